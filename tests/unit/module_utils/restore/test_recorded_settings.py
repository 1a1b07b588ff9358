# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded cgroup settings are restored on every kind of node, and no file of the collection remains."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.restore import recorded_settings
from ansible_collections.volcano.colocation.plugins.module_utils.settings import reapply_unit, record
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import CGROUPS, PODS, ROOT, UIDS, Tree
from ansible_collections.volcano.colocation.tests.support.node.unit_manager import SystemdTree

UNIT = "kubepods-besteffort.slice"
CLASS = CGROUPS["systemd"]["besteffort"]


@pytest.fixture(name="memory")
def _memory() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="qos-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield directory
    shutil.rmtree(str(directory))


@pytest.fixture(params=["v1-systemd", "v1-cgroupfs", "v2-systemd", "v2-cgroupfs"], name="tree")
def _tree(request: pytest.FixtureRequest, memory: Path) -> Tree:
    mode, _dash, driver = request.param.partition("-")
    return Tree(memory, mode, driver)


@pytest.fixture(name="node")
def _node(memory: Path, monkeypatch: pytest.MonkeyPatch) -> SystemdTree:
    node = SystemdTree(memory)
    monkeypatch.setattr(recorded_settings, "ROOT", ROOT)
    monkeypatch.setattr(recorded_settings, "node_of", lambda _host, _root: node.node())
    return node


def test_a_node_without_a_record_stays_unchanged(tree: Tree) -> None:
    before = tree.snapshot()
    assert recorded_settings.plan_restores(tree.host) == ()
    assert recorded_settings.restore_settings(tree.host, Clock()) == ()
    assert tree.snapshot() == before
    assert not os.path.exists(tree.host.path("/var/lib/volcano-colocation"))


def test_every_setting_of_every_cgroup_is_restored(tree: Tree) -> None:
    before = tree.texts()
    tree.run(qos_class="besteffort", settings={"pids_max": 500, "cpu_quota": "1.5"})
    tree.run(qos_class="burstable", level="pods", settings={"pids_max": 100})
    tree.run(slice="system.slice", settings={"cpu_weight": 300})

    result = recorded_settings.restore_result(recorded_settings.plan_restores(tree.host))
    assert result["changed"]
    cgroups = [(setting["cgroup"], setting["knob"], setting["after"]) for setting in result["settings"]]
    assert (CGROUPS[tree.driver]["besteffort"], "pids_max", "max") in cgroups
    assert (PODS[tree.driver]["burstable"], "pids_max", "max") in cgroups
    assert len(cgroups) == 4

    done = recorded_settings.restore_result(recorded_settings.restore_settings(tree.host, Clock()))
    assert done == result
    assert tree.texts() == before
    assert recorded_settings.plan_restores(tree.host) == ()


def test_a_missing_cgroup_is_forgotten(tree: Tree) -> None:
    pod = PODS[tree.driver]["burstable"]
    tree.run(pod={"uid": UIDS["burstable"]}, settings={"pids_max": 10})
    for directory in [tree.top / pod, *tree.top.glob("*/" + pod)]:
        shutil.rmtree(str(directory), ignore_errors=True)
    result = recorded_settings.restore_result(recorded_settings.plan_restores(tree.host))
    assert (result["changed"], result["settings"], result["gone"]) == (True, [], [pod])
    recorded_settings.restore_settings(tree.host, Clock())
    assert record.load(tree.host) == {}


def test_systemd_values_are_restored_and_the_unit_is_removed(node: SystemdTree) -> None:
    node.systemd.set(UNIT, [])
    before = node.texts()
    node.run(qos_class="besteffort", settings={"cpu_quota": "1.5", "memory_high": "1Gi", "cpu_burst": 20000})
    assert reapply_unit.is_present(node.host)

    result = recorded_settings.restore_result(recorded_settings.plan_restores(node.host))
    assert result["unit"] == "volcano-colocation-qos.service"
    assert f"{CLASS} memory_high: 1Gi" in result["before"]
    recorded_settings.restore_settings(node.host, Clock())

    assert node.texts() == before
    assert node.systemd.value_of(UNIT, "MemoryHigh") == INFINITY
    node.systemd.realize(UNIT)
    assert node.texts() == before
    assert not reapply_unit.is_present(node.host)
    assert recorded_settings.plan_restores(node.host) == ()


def test_a_unit_without_a_record_is_removed(node: SystemdTree) -> None:
    reapply_unit.install_unit(node.host)
    assert recorded_settings.restore_result(recorded_settings.plan_restores(node.host))["changed"]
    recorded_settings.restore_settings(node.host, Clock())
    assert not reapply_unit.is_present(node.host)


def test_a_write_that_fails_leaves_record_and_values(node: SystemdTree) -> None:
    node.run(qos_class="besteffort", settings={"memory_high": "1Gi"})
    before = node.texts()
    node.systemd.refuses = "MemoryHigh"
    with pytest.raises(ColocationError, match="systemd refused MemoryHigh"):
        recorded_settings.restore_settings(node.host, Clock())
    assert node.texts() == before
    assert reapply_unit.is_present(node.host)
