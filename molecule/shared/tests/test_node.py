# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node by its kernel and its services at each moment, checked without code of this collection."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

FILE_SYSTEM = {"v1": "1021994", "v2": "63677270"}
"""Of /sys/fs/cgroup: TMPFS_MAGIC, with a hierarchy for each controller below it, and CGROUP2_SUPER_MAGIC."""
SHAPES = {
    "systemd": re.compile(
        r"/kubepods\.slice/(kubepods-\w+\.slice/)?kubepods-(\w+-)?pod\w+\.slice/cri-containerd-[0-9a-f]{64}\.scope"
    ),
    "cgroupfs": re.compile(r"/kubepods/(\w+/)?pod[\w-]+/[0-9a-f]{64}"),
}
OTHER_TREE = {"systemd": "kubepods", "cgroupfs": "kubepods.slice"}
CONFIG = "/var/lib/kubelet/config.yaml"
STATE = "/var/lib/kubelet/cpu_manager_state"
RELEASES = {"v1-cgroupfs": (1, 6), "v1-systemd": (1, 7), "v2-cgroupfs": (1, 7), "v2-systemd": (2, 4)}
"""Of containerd."""


@pytest.fixture(name="release")
def _release(evidence: dict[str, Any]) -> tuple[int, int]:
    match = re.search(r"(\d+)\.(\d+)\.", evidence["containerd"]["version"])
    assert match, evidence["containerd"]["version"]
    return int(match[1]), int(match[2])


def test_the_node_was_booted_as_the_scenario_says(evidence: dict[str, Any], version: str) -> None:
    assert evidence["file_system"] == FILE_SYSTEM[version]


def test_the_programs_are_those_of_the_scenario(evidence: dict[str, Any], release: tuple[int, int]) -> None:
    assert evidence["kubelet"].startswith("Kubernetes v1.35.")
    assert release == RELEASES[evidence["node"]]


@pytest.mark.parametrize("service", ["kubelet", "containerd"])
def test_services_run(evidence: dict[str, Any], service: str) -> None:
    assert evidence["services"][service] == "active"


def test_kubelet_answers(evidence: dict[str, Any]) -> None:
    assert evidence["health"] == "ok"


def test_every_container_runs_where_the_driver_puts_it(evidence: dict[str, Any], driver: str) -> None:
    paths = evidence["containers"]
    # three pods, each with a sandbox and a container
    assert len(paths) >= 6
    assert [path for path in paths.values() if not SHAPES[driver].fullmatch(path)] == []


def test_all_three_qos_classes_run(evidence: dict[str, Any]) -> None:
    paths = list(evidence["containers"].values())
    for name in ("burstable", "besteffort"):
        assert any(name in path for path in paths), name
    assert any("burstable" not in path and "besteffort" not in path for path in paths)


def test_the_tree_of_the_other_driver_holds_no_process(evidence: dict[str, Any], driver: str, version: str) -> None:
    """In any hierarchy. The tree itself may exist, empty."""
    hierarchies = evidence["trees"][OTHER_TREE[driver]]
    assert {"v1": {"memory", "cpuset", "systemd"}, "v2": {"."}}[version] <= set(hierarchies)
    assert {name: processes for name, processes in hierarchies.items() if processes} == {}


def test_the_file_says_it_plainly_for_agents_that_read_it(evidence: dict[str, Any], driver: str) -> None:
    lines = [line.partition("#")[0].rstrip() for line in evidence["texts"][CONFIG].splitlines()]
    assert f"cgroupDriver: {driver}" in lines
    assert "cpuManagerPolicy: static" in lines


def test_the_checkpoint_is_the_static_policys(evidence: dict[str, Any]) -> None:
    assert json.loads(evidence["texts"][STATE])["policyName"] == "static"


def test_the_guaranteed_pod_has_its_cpu_for_itself(pinned: list[str]) -> None:
    """In the kernel the container with a whole CPU is alone on it, except for the reserved system."""
    assert len(pinned) == 1


def test_containerd_itself_uses_the_driver(evidence: dict[str, Any], driver: str) -> None:
    expected, other = ("true", "false") if driver == "systemd" else ("false", "true")
    assert f"SystemdCgroup = {expected}" in evidence["containerd"]["config"]
    assert f"SystemdCgroup = {other}" not in evidence["containerd"]["config"]


def test_nri_listens_where_containerd_has_it(evidence: dict[str, Any], release: tuple[int, int]) -> None:
    sockets = [line.split()[-1] for line in evidence["sockets"].splitlines() if "nri.sock" in line]
    assert bool(sockets) is (release >= (1, 7))


def test_the_prediction_is_what_was_done(predicted: dict[str, Any], done: dict[str, Any]) -> None:
    assert predicted == done
    assert predicted["plan"]["changes"]
    assert predicted["diff"]
    for entry in predicted["diff"]:
        assert entry["before"] != entry["after"]


def test_the_files_are_as_predicted(evidence: dict[str, Any], predicted: dict[str, Any]) -> None:
    digests = {
        entry["after_header"]: hashlib.sha256(entry["after"].encode()).hexdigest() for entry in predicted["diff"]
    }
    assert digests
    assert evidence["digests"] == digests


def test_no_files_of_a_transaction_remain_in_watched_directories(evidence: dict[str, Any]) -> None:
    assert len(evidence["names"]) == 3
    for names in evidence["names"].values():
        assert [name for name in names if "volcano" in name or name.endswith((".bak", "~", ".tmp"))] == []
