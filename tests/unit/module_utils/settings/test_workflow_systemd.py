# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of systemd: properties are set over D-Bus, in one call for each unit, and stay when systemd writes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos.setting_request import warnings
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.settings import reapply, reapply_unit, record, workflow
from ansible_collections.volcano.colocation.plugins.module_utils.settings.write_order import UnitCall, batch_steps
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import CGROUPS, PODS, UIDS
from ansible_collections.volcano.colocation.tests.support.node.unit_manager import WANTS, SystemdTree

UNIT = "kubepods-besteffort.slice"
CGROUP = CGROUPS["systemd"]["besteffort"]
SETTINGS = {"cpu_quota": "1.5", "memory_high": "1Gi", "pids_max": 500, "cpu_burst": 20000}
FILES = {"cpu.max": "150000 100000", "memory.high": "1073741824", "pids.max": "500", "cpu.max.burst": "20000"}
BEFORE = {"cpu.max": "max 100000", "memory.high": "max", "pids.max": "max", "cpu.max.burst": "0"}


@pytest.fixture(name="node")
def _node(memory: Path) -> SystemdTree:
    return SystemdTree(memory)


def now(node: SystemdTree) -> dict[str, str]:
    return {name: node.read(CGROUP, name) for name in FILES}


def test_one_call_for_a_unit_and_raw_writes_for_the_other_knobs(node: SystemdTree) -> None:
    result = node.run(qos_class="besteffort", settings=SETTINGS)
    assert {setting["knob"]: setting["backend"] for setting in result["settings"]} == {
        "cpu_quota": "dbus",
        "memory_high": "dbus",
        "pids_max": "dbus",
        "cpu_burst": "file",
    }
    assert node.systemd.calls.count(("set", UNIT)) == 1
    # One for the plan of check mode, one for the real one.
    assert node.systemd.calls.count(("get", UNIT)) == 2
    assert now(node) == FILES
    node.systemd.realize(UNIT)
    assert now(node) == FILES
    assert not node.run(qos_class="besteffort", settings=SETTINGS)["changed"]
    assert node.systemd.calls.count(("set", UNIT)) == 1


def test_absent_restores_systemds_values(node: SystemdTree) -> None:
    node.systemd.set(UNIT, [])
    before = node.texts()
    node.run(qos_class="besteffort", settings=SETTINGS)
    assert node.systemd.value_of(UNIT, "MemoryHigh") == 1 << 30
    node.run(qos_class="besteffort", state="absent")
    assert now(node) == BEFORE
    assert [node.systemd.value_of(UNIT, name) for name in ("MemoryHigh", "CPUQuotaPerSecUSec", "TasksMax")] == [
        INFINITY
    ] * 3
    assert node.texts() == before


def test_a_value_written_without_systemd_is_set_as_a_property(node: SystemdTree) -> None:
    node.file(CGROUP, "pids.max").write_text("500\n")
    result = node.run(qos_class="besteffort", settings={"pids_max": 500})
    assert [(setting["before"], setting["after"], setting["changed"]) for setting in result["settings"]] == [
        ("500", "500", True)
    ]
    node.systemd.realize(UNIT)
    assert node.read(CGROUP, "pids.max") == "500"


def test_a_quota_of_systemd_is_a_whole_percent(node: SystemdTree) -> None:
    result = node.run(qos_class="besteffort", settings={"cpu_quota": "0.123"})
    assert node.systemd.value_of(UNIT, "CPUQuotaPerSecUSec") == 130000
    assert node.read(CGROUP, "cpu.max") == "13000 100000"
    assert [setting["after"] for setting in result["settings"]] == ["0.13"]
    assert not node.run(qos_class="besteffort", settings={"cpu_quota": "0.123"})["changed"]


def test_burst_is_reduced_before_the_call_and_raised_after_it(node: SystemdTree) -> None:
    node.run(qos_class="besteffort", settings=SETTINGS)
    down = node.plan(qos_class="besteffort", settings={**SETTINGS, "cpu_quota": "0.1", "cpu_burst": 0, "pids_max": 9})
    first, second = batch_steps([step for step in down.steps if step.changed])
    assert not isinstance(first, UnitCall)
    assert first.knob.name == "cpu_burst"
    assert isinstance(second, UnitCall)
    up = node.plan(qos_class="besteffort", settings={**SETTINGS, "cpu_quota": 2, "cpu_burst": 30000, "pids_max": 9})
    first, second = batch_steps([step for step in up.steps if step.changed])
    assert isinstance(first, UnitCall)
    assert not isinstance(second, UnitCall)


def test_the_call_is_rolled_back_when_a_raw_write_fails(node: SystemdTree) -> None:
    plan = node.plan(qos_class="besteffort", settings=SETTINGS)
    burst = node.file(CGROUP, "cpu.max.burst")
    burst.unlink()
    burst.mkdir()
    with pytest.raises(ColocationError, match="cpu_burst: writing '20000' failed"):
        workflow.execute(node.node(), plan, Clock())
    assert {name: node.read(CGROUP, name) for name in ("cpu.max", "memory.high")} == {
        "cpu.max": "max 100000",
        "memory.high": "max",
    }
    assert node.systemd.value_of(UNIT, "MemoryHigh") == INFINITY
    assert not record.load(node.host)
    assert not reapply_unit.is_present(node.host)


def test_raw_writes_are_rolled_back_when_the_call_is_refused(node: SystemdTree) -> None:
    node.run(qos_class="besteffort", settings=SETTINGS)
    node.systemd.refuses = "CPUQuotaPerSecUSec"
    plan = node.plan(qos_class="besteffort", settings={**SETTINGS, "cpu_quota": "0.1", "cpu_burst": 0})
    with pytest.raises(ColocationError, match="systemd refused CPUQuotaPerSecUSec"):
        workflow.execute(node.node(), plan, Clock())
    assert now(node) == FILES


def test_a_warning_names_a_value_that_systemd_resets(node: SystemdTree) -> None:
    lines = warnings(node.plan(slice="system.slice", settings={"memory_oom_group": True, "pids_max": 1000}))
    assert [line.partition(":")[0] for line in lines] == ["memory_oom_group of system.slice will not last"]
    assert warnings(node.plan(slice="system.slice", settings={"pids_max": 1000})) == []


def test_idle_of_a_pod_is_a_weight_of_systemd(node: SystemdTree) -> None:
    pod = {"uid": UIDS["besteffort"]}
    unit, cgroup = PODS["systemd"]["besteffort"].rpartition("/")[2], PODS["systemd"]["besteffort"]
    result = node.run(pod=pod, settings={"cpu_idle": True})
    assert [setting["backend"] for setting in result["settings"]] == ["dbus"]
    node.systemd.realize(unit)
    assert node.read(cgroup, "cpu.idle") == "1"
    assert not node.run(pod=pod, settings={"cpu_idle": True})["changed"]
    node.run(pod=pod, state="absent")
    assert (node.read(cgroup, "cpu.idle"), node.systemd.value_of(unit, "CPUWeight")) == ("0", INFINITY)


def test_the_unit_exists_while_a_setting_is_recorded(node: SystemdTree) -> None:
    links = [Path(node.host.path(f"/etc/systemd/system/{wants}/{reapply_unit.UNIT}")) for wants in WANTS]
    node.run(qos_class="besteffort", settings={"pids_max": 10}, persistent=False)
    assert not reapply_unit.is_present(node.host)
    node.run(qos_class="besteffort", settings={"pids_max": 10})
    assert reapply_unit.is_installed(node.host)
    assert all(link.is_symlink() for link in links)
    engine_directory = Path(node.host.path(reapply_unit.LINK))
    assert (engine_directory / "__main__.py").is_file()
    assert (engine_directory / installed_engine.PACKAGE / "settings/reapply.py").is_file()
    assert not node.run(qos_class="besteffort", settings={"pids_max": 10})["changed"]
    node.run(slice="system.slice", settings={"pids_max": 1000})
    node.run(qos_class="besteffort", state="absent")
    assert reapply_unit.is_installed(node.host)
    node.run(slice="system.slice", state="absent")
    assert not reapply_unit.is_present(node.host)
    assert not any(link.is_symlink() for link in links)
    assert not Path(node.host.path(installed_engine.ENGINE_DIRECTORY)).exists()
    assert ("systemctl", "daemon-reload") in node.commands


@pytest.mark.parametrize("path", [installed_engine.ENGINE_DIRECTORY, "/etc/systemd/system"])
def test_nothing_is_set_when_the_unit_cannot_be_written(node: SystemdTree, path: str) -> None:
    shutil.rmtree(node.host.path(path), ignore_errors=True)
    node.write(path, "in the place of a directory")
    before = node.snapshot()
    with pytest.raises(ColocationError, match=re.escape(f"{path} is not a directory")):
        node.plan(qos_class="besteffort", settings={"pids_max": 10})
    with pytest.raises(ColocationError, match=re.escape(f"{path} is not a directory")):
        node.run(qos_class="besteffort", settings={"pids_max": 10})
    assert node.snapshot() == before
    assert node.run(qos_class="besteffort", settings={"pids_max": 10}, persistent=False)["changed"]


def test_installing_a_transaction_engine_keeps_the_engine_of_the_unit(node: SystemdTree) -> None:
    node.run(qos_class="besteffort", settings={"pids_max": 10})
    Path(node.host.path(installed_engine.ENGINE_DIRECTORY + "/0123456789abcdef")).mkdir()
    installed_engine.remove_other_engines(node.host, installed_engine.ENGINE_DIRECTORY + "/fedcba9876543210")
    assert reapply_unit.is_installed(node.host)
    assert not Path(node.host.path(installed_engine.ENGINE_DIRECTORY + "/0123456789abcdef")).exists()


def test_after_a_boot_every_setting_is_applied_again_and_reported(
    node: SystemdTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reapply, "ROOT", "/cgroups")
    node.run(qos_class="besteffort", settings=SETTINGS)
    node.run(slice="system.slice", settings={"pids_max": 1000}, persistent=False)
    node.systemd.forget()
    for unit in (UNIT, "system.slice"):
        node.systemd.realize(unit)
    node.file(CGROUP, "cpu.max.burst").write_text("0\n")
    node.write("/proc/sys/kernel/random/boot_id", "second-boot\n")
    lines: list[str] = []
    assert reapply.reapply(node.node(), Clock(), lines.append) == 0
    assert now(node) == FILES
    assert sorted(lines) == [
        f"{CGROUP} cpu_burst: drifted from 20000 to 0, set again (the node was booted)",
        f"{CGROUP} cpu_quota: drifted from 1.5 to max, set again (the node was booted)",
        f"{CGROUP} memory_high: drifted from 1Gi to max, set again (the node was booted)",
        f"{CGROUP} pids_max: drifted from 500 to max, set again (the node was booted)",
    ]
    assert node.read("system.slice", "pids.max") == "max"
    lines.clear()
    assert reapply.reapply(node.node(), Clock(), lines.append) == 0
    assert lines == []
    assert not node.run(qos_class="besteffort", settings=SETTINGS)["changed"]
