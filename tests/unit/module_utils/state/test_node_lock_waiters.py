# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of cgroup settings and slices wait for a transaction, name themselves in the lock, and do not deadlock."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos import setting_run
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock, Host
from ansible_collections.volcano.colocation.plugins.module_utils.restore import (
    cleanup,
    managed_slices,
    recorded_settings,
)
from ansible_collections.volcano.colocation.plugins.module_utils.settings import record
from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_result
from ansible_collections.volcano.colocation.plugins.module_utils.state import node_lock
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import OPTIONS, ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import Systemd

SLICE = {**managed_slices.ABSENT, "name": "a.slice", "state": "present", "properties": {"CPUWeight": 500}}
ABSENT = {**managed_slices.ABSENT, "name": "a.slice"}
ENGINE = "transaction t-1 from control"


@pytest.fixture(autouse=True)
def _no_lock_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_lock, "LOCK_TIMEOUT", 0.0)


@pytest.fixture(name="systemd")
def _systemd(tmp_path: Path) -> Systemd:
    return Systemd(tmp_path / "node")


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree", "v2", "systemd")


def set_qos(tree: Tree, *, check: bool = False, **options: Any) -> bool:
    """Run like the module."""
    parameters = {**OPTIONS, **options}
    return (
        setting_run.predict(tree.host, parameters) if check else setting_run.execute(tree.host, parameters, Clock())
    ).changed


def holder(host: Host) -> str:
    return Path(Store(host).lock_path).read_text()


def refused(host: Host, change: Callable[[], object]) -> None:
    with hold(Store(host).lock_path, ENGINE), pytest.raises(LockHeld, match=f"this node: {ENGINE}, pid {os.getpid()},"):
        change()


def test_a_slice_waits_for_a_transaction(systemd: Systemd) -> None:
    refused(systemd.host, lambda: unit_result.execute(systemd.host, SLICE))
    assert not (systemd.root / "etc/systemd/system/a.slice").exists()
    unit_result.execute(systemd.host, SLICE)
    assert holder(systemd.host).startswith("systemd_slice of a.slice, pid ")


def test_an_unchanged_slice_does_not_wait(systemd: Systemd) -> None:
    unit_result.execute(systemd.host, SLICE)
    with hold(Store(systemd.host).lock_path, ENGINE):
        assert not unit_result.execute(systemd.host, SLICE)[0].plan.changed


def test_a_slice_of_an_image_needs_no_state_directory(tmp_path: Path) -> None:
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    host = Host(str(tmp_path))
    assert unit_result.execute(host, SLICE)[0].plan.changed
    assert not (tmp_path / "var").exists()


def test_a_setting_waits_for_a_transaction(tree: Tree) -> None:
    refused(tree.host, lambda: set_qos(tree, slice="system.slice", settings={"pids_max": 10}))
    assert tree.read("system.slice", "pids.max") == "max"
    assert set_qos(tree, slice="system.slice", settings={"pids_max": 10})
    assert holder(tree.host).startswith("cgroup_qos, pid ")


def test_check_mode_and_an_unchanged_setting_do_not_lock(tree: Tree) -> None:
    assert set_qos(tree, check=True, slice="system.slice", settings={"pids_max": 10})
    assert not os.path.exists(tree.host.path("/var/lib/volcano-colocation"))
    set_qos(tree, slice="system.slice", settings={"pids_max": 10})
    with hold(Store(tree.host).lock_path, ENGINE), record.hold_record(tree.host, Clock()):
        assert not set_qos(tree, slice="system.slice", settings={"pids_max": 10})
        assert set_qos(tree, check=True, slice="system.slice", settings={"pids_max": 11})


def test_consecutive_runs_do_not_block_each_other(
    tree: Tree, systemd: Systemd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_settings, "ROOT", ROOT)
    monkeypatch.setattr(recorded_settings, "node_of", lambda _host, _root: tree.node())
    set_qos(tree, slice="system.slice", settings={"pids_max": 10})
    unit_result.execute(systemd.host, SLICE)
    recorded_settings.restore_settings(tree.host, Clock())
    managed_slices.restore_slices(systemd.host, managed_slices.find_slices(systemd.host))
    for host in (tree.host, systemd.host):
        assert cleanup.clean_up(host) == ["/var/lib/volcano-colocation"]
        assert not os.path.exists(host.path("/var/lib/volcano-colocation"))


def test_a_restore_waits_for_a_transaction(tree: Tree, systemd: Systemd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_settings, "ROOT", ROOT)
    monkeypatch.setattr(recorded_settings, "node_of", lambda _host, _root: tree.node())
    set_qos(tree, slice="system.slice", settings={"pids_max": 10})
    unit_result.execute(systemd.host, SLICE)
    refused(tree.host, lambda: recorded_settings.restore_settings(tree.host, Clock()))
    refused(systemd.host, lambda: managed_slices.restore_slices(systemd.host, managed_slices.find_slices(systemd.host)))
    assert tree.read("system.slice", "pids.max") == "10"
    assert (systemd.root / "etc/systemd/system/a.slice").exists()
