# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A system that is configured in another way is refused by every module that changes files, and stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.tests.unit.action.image import contents, grow
from ansible_collections.volcano.colocation.tests.unit.action.in_process import action
from ansible_collections.volcano.colocation.tests.unit.hosts.host import described, snapshot_of

MODULES: dict[str, dict[str, Any]] = {
    "kubelet_config": {"cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}},
    "containerd_config": {"cgroup_driver": "cgroupfs"},
}
IMMUTABLE = ("talos", "flatcar", "bottlerocket-admin-container", "rhel-image-mode")


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("module", MODULES)
def test_an_image_of_such_a_system_stays_as_it_is(tmp_path: Path, module: str, check: bool) -> None:
    image = grow(tmp_path / "image", {"usr/lib/os-release": "ID=talos\n"})
    before = contents(image)
    result = action(module, {"root": str(image), **MODULES[module]}, check=check)
    assert result["failed"]
    assert "Talos Linux is not changed by this collection" in result["msg"]
    assert "machine.kubelet.extraConfig" in result["msg"]
    assert contents(image) == before


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
    assert "immutable-system" in {each["code"] for each in result["ansible_facts"]["colocation"]["findings"]}
