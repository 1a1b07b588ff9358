# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All modules that change files refuse systems that are configured in another way, and do not change them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.plugins.modules import cgroup_qos
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, snapshot_of
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action, run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import contents, grow

MODULES: dict[str, dict[str, Any]] = {
    "kubelet_config": {"cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}},
    "containerd_config": {"cgroup_driver": "cgroupfs"},
    "crio_config": {"cgroup_driver": "cgroupfs"},
    "agent_sysctls": {"sysctls": ["vm.memcg_qos_enable"]},
    "systemd_slice": {"name": "a.slice", "properties": {"CPUWeight": 5}},
    "cgroup_qos": {"slice": "system.slice", "settings": {"pids_max": 10}, "cgroup_root": ROOT},
}
ABSENT: dict[str, dict[str, Any]] = {
    "agent_sysctls": {"sysctls": []},
    "systemd_slice": {"name": "a.slice", "state": "absent"},
    "cgroup_qos": {"slice": "system.slice", "state": "absent", "cgroup_root": ROOT},
    "node_restore": {},
}
"""They restore recorded changes, of which an unchanged node has none."""
IMMUTABLE = ("talos", "flatcar", "bottlerocket-admin-container", "rhel-image-mode")


def image_of(directory: Path, monkeypatch: pytest.MonkeyPatch, release: str, mounts: str = "") -> Path:
    """A node with cgroups and an image's files below one root; cgroup_qos has no option for this."""
    root = Tree(directory / "image", "v2", "systemd").directory
    grow(root, {"usr/lib/os-release": release})
    if mounts:
        place = root / "proc/self/mountinfo"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(mounts)
    monkeypatch.setattr(cgroup_qos, "Host", lambda: Host(str(root)))
    return root


def task(module: str, root: Path, options: Mapping[str, Any], *, check: bool) -> dict[str, Any]:
    return run(module, options if module == "cgroup_qos" else {"root": str(root), **options}, check=check)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("module", MODULES)
def test_an_image_of_such_a_system_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, check: bool
) -> None:
    root = image_of(tmp_path, monkeypatch, "ID=talos\n")
    before = contents(root)
    result = task(module, root, MODULES[module], check=check)
    assert result["failed"]
    assert "Talos Linux is not changed by this collection" in result["msg"]
    assert "machine.kubelet.extraConfig" in result["msg"]
    assert contents(root) == before


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("module", ABSENT)
def test_nothing_is_taken_back_from_it_and_that_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, check: bool
) -> None:
    root = image_of(tmp_path, monkeypatch, "ID=bottlerocket\n")
    before = contents(root)
    result = task(module, root, ABSENT[module], check=check)
    assert (result.get("failed", False), result["changed"]) == (False, False)
    assert contents(root) == before


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("module", ["systemd_slice", "cgroup_qos"])
def test_a_read_only_place_that_is_written_to_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, check: bool
) -> None:
    mounts = "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n29 28 8:2 / /etc ro - squashfs /dev/sda2 ro\n"
    root = image_of(tmp_path, monkeypatch, "ID=acme\n", mounts)
    before = contents(root)
    result = task(module, root, MODULES[module], check=check)
    assert result["failed"]
    assert "acme is not changed by this collection: /etc/systemd/system cannot be written" in result["msg"]
    assert contents(root) == before


OPEN = {
    "a slice where /usr alone is read-only": ("systemd_slice", {}, "ID=flatcar\n"),
    "settings until the next boot": ("cgroup_qos", {"persistent": False}, "ID=cos\n"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_has_its_place_on_such_a_system_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module, options, release = OPEN[name]
    mounts = "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n29 28 8:2 / /usr ro - ext4 /dev/sda2 ro\n"
    root = image_of(tmp_path, monkeypatch, release, mounts)
    results = [task(module, root, {**MODULES[module], **options}, check=check) for check in (True, False, False)]
    assert [(result.get("failed", False), result["changed"]) for result in results] == [
        (False, True),
        (False, True),
        (False, False),
    ]


@pytest.mark.parametrize("name", IMMUTABLE)
def test_node_align_asks_for_a_look_and_for_nothing_else(tmp_path: Path, name: str) -> None:
    asked = []

    def recorded(module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(module.rpartition(".")[2])
        return {"changed": False, "snapshot": pack(snapshot_of(described(name).host, tmp_path))}

    profile = {"cgroup_driver": "cgroupfs", "cpu_manager_policy": "static", "system_reserved": {"cpu": "1"}}
    result = action("node_align", {**profile, "allow_disruption": True}, recorded=recorded)
    assert result["failed"]
    assert "is not changed by this collection" in result["msg"]
    assert (result["changed"], result["verdict"], asked) == (False, "unsupported", ["node_snapshot"])


@pytest.mark.parametrize("name", IMMUTABLE)
def test_a_look_at_it_does_not_fail(tmp_path: Path, name: str) -> None:
    def recorded(_module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"changed": False, "snapshot": pack(snapshot_of(described(name).host, tmp_path))}

    result = action("node_facts", {}, recorded=recorded)
    assert not result.get("failed")
    assert "immutable-system" in {finding["code"] for finding in result["ansible_facts"]["colocation"]["findings"]}
