# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fixture host has its origin. A recorded host is from the named node and has no names of a machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import redact_snapshot
from ansible_collections.volcano.colocation.tests.lab.arguments import parser, specification
from ansible_collections.volcano.colocation.tests.lab.program_table import of_release
from ansible_collections.volcano.colocation.tests.lab.spec import DEBIAN_KUBELET, NodeSpec, is_containerd_2, validate
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import (
    HOSTS,
    NAMES,
    TREE,
    described,
    snapshot_of,
)
from ansible_collections.volcano.colocation.tests.support.hosts.facts_documents import facts_document
from ansible_collections.volcano.colocation.tests.support.hosts.recorded_hosts import (
    FIXTURES,
    SUFFIX,
    Origin,
    by_hand,
    captured_origins,
    edited,
    load,
    origins,
)

Recorded = tuple[Origin, Mapping[str, Any]]

FILES = {
    **{name: (origin, HOSTS / f"{name}{SUFFIX}") for name, origin in origins().items()},
    **{name: (origin, FIXTURES / "snapshots" / f"{name}.json") for name, origin in captured_origins().items()},
}
CPUS = {1: {"0": "0-1"}, 2: {"0": "0", "1": "1"}}
"""By the number of NUMA nodes."""


@pytest.fixture(name="recorded", params=FILES)
def _recorded(request: pytest.FixtureRequest) -> Recorded:
    origin, path = FILES[request.param]
    return origin, load(path)


def node_spec(origin: Origin) -> NodeSpec:
    """The node that the lab creates from the options."""
    return validate(specification(parser().parse_args(["up", origin.node, *origin.lab])))


def test_each_host_has_one_origin() -> None:
    files = {path.stem for path in HOSTS.glob("*.yml")}
    assert sorted([*origins(), *by_hand()]) == sorted(files)
    assert all(len(why.split()) > 5 for why in by_hand().values())
    assert set(captured_origins()) == {path.stem for path in (FIXTURES / "snapshots").glob("*.json")}


def test_the_recorded_hosts_are_those_with_a_snapshot() -> None:
    assert {name for name in NAMES if described(name).is_recorded} == set(origins())
    assert {path.name for path in HOSTS.glob(f"*{SUFFIX}")} == {f"{name}{SUFFIX}" for name in origins()}


@pytest.mark.parametrize("name", origins())
def test_a_recorded_host_has_no_tree(name: str) -> None:
    host = described(name)
    assert [part for part in TREE if part in host.host or part in host.flip] == []


def test_the_node_is_the_one_that_is_named(recorded: Recorded) -> None:
    origin, snapshot = recorded
    spec, facts = node_spec(origin), facts_document(snapshot)
    assert snapshot["system"]["hostname"] == origin.node
    assert f"VERSION_CODENAME={spec.suite.value}" in snapshot["system"]["os_release"]
    assert facts["cgroup"]["mode"] == spec.cgroup.value
    assert facts["cpu"]["numa"] == CPUS[spec.numa]
    kubelet = "1.20" if spec.kubelet == DEBIAN_KUBELET else spec.kubelet
    assert facts["kubelet"]["version"].startswith(f"{kubelet}.")
    assert (facts["runtime"]["version"].lstrip("v")[0] == "2") == is_containerd_2(spec.suite, spec.containerd)
    if spec.containerd:
        assert facts["runtime"]["version"].lstrip("v") == of_release("containerd", spec.containerd).release


def test_a_snapshot_has_no_secrets(recorded: Recorded) -> None:
    _origin, snapshot = recorded
    assert redact_snapshot(snapshot) == snapshot


def test_the_kernel_line_names_no_directory_of_the_machine(recorded: Recorded) -> None:
    """The kernel line of user-mode Linux has the paths of its disk and its sockets."""
    words = recorded[1]["system"]["kernel_command_line"].split()
    places = [place for word in words for place in re.findall(r"(?<=[=,])/[^,]*", word)]
    assert [place for place in places if not place.startswith(("/dev/", "/lab/"))] == []


def test_an_edit_changes_only_its_text(tmp_path: Path) -> None:
    host = described("v2-containerd-1.7-aligned").host
    path = "/var/lib/kubelet/config.yaml"
    before = snapshot_of(host, tmp_path)
    after = snapshot_of({**host, "edits": {path: {"cgroupDriver: systemd": "cgroupDriver: cgroupfs"}}}, tmp_path)
    old, new = (snapshot["kubelet"]["files"][path] for snapshot in (before, after))
    assert new["text"] == old["text"].replace("cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    assert new["sha256"] != old["sha256"]
    after["kubelet"]["files"][path] = old
    assert after == before
    with pytest.raises(AssertionError, match="occurs 0 times"):
        edited(before, {path: {"cgroupDriver: other": ""}})
    with pytest.raises(AssertionError, match="is not in the snapshot"):
        edited(before, {"/etc/passwd": {}})
