# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Side effects of the kernel and systemd on other settings, as observed on nodes of both cgroup versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.settings import apply, record, workflow
from ansible_collections.volcano.colocation.plugins.module_utils.settings.cgroup_state import State
from ansible_collections.volcano.colocation.plugins.module_utils.settings.change_plan import (
    AppliedSettings,
    Step,
    plan_steps,
)
from ansible_collections.volcano.colocation.plugins.module_utils.settings.codec import Backend
from ansible_collections.volcano.colocation.plugins.module_utils.settings.ownership import CgroupLevel
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS
from ansible_collections.volcano.colocation.plugins.module_utils.settings.target_cgroups import Target
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY, Property
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import PODS, UIDS, Tree, make_unwritable
from ansible_collections.volcano.colocation.tests.support.node.unit_manager import SystemdTree

POD = {"uid": UIDS["besteffort"]}
WEIGHT = {"v1": ("cpu.shares", "2", "1024"), "v2": ("cpu.weight", "1", "100")}
"""{version: (file, kubelet's weight of the pod, the kernel's weight while the pod is idle and afterwards)}"""
SLICE = {"slice": "system.slice"}


class Kernel:
    """The effect of a write of cpu.idle on the weight: kernel/sched/fair.c sched_group_set_idle."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.cgroup = PODS[tree.driver]["besteffort"]
        self.file, self.own, self.default = WEIGHT[tree.mode]
        tree.file(self.cgroup, self.file).write_text(self.own + "\n")

    def forget_weight(self) -> None:
        self.tree.file(self.cgroup, self.file).write_text(self.default + "\n")

    def weight(self) -> str:
        return self.tree.read(self.cgroup, self.file)


@pytest.fixture(name="kernel")
def _kernel(tree: Tree) -> Kernel:
    return Kernel(tree)


def test_absent_restores_the_weight_that_idle_reset(tree: Tree, kernel: Kernel) -> None:
    tree.run(pod=POD, settings={"cpu_idle": True})
    kernel.forget_weight()
    assert not tree.run(pod=POD, settings={"cpu_idle": True})["changed"]
    tree.run(pod=POD, state="absent")
    assert (tree.read(kernel.cgroup, "cpu.idle"), kernel.weight()) == ("0", kernel.own)
    assert not tree.run(pod=POD, state="absent")["changed"]


def test_turning_idle_off_restores_the_weight(tree: Tree, kernel: Kernel) -> None:
    tree.run(pod=POD, settings={"cpu_idle": True})
    kernel.forget_weight()
    tree.run(pod=POD, settings={"cpu_idle": False})
    assert (tree.read(kernel.cgroup, "cpu.idle"), kernel.weight()) == ("0", kernel.own)
    assert not tree.run(pod=POD, settings={"cpu_idle": False})["changed"]


def test_the_weight_is_restored_when_a_later_write_fails(
    tree: Tree, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of two pods, the second one's file cannot be written when the first one is idle already.
    other = kernel.cgroup.replace(UIDS["besteffort"], UIDS["besteffort"].replace("0", "f"))
    tree.make(other)
    plan = tree.plan(qos_class="besteffort", level="pods", settings={"cpu_idle": True})
    make_unwritable(tree.file(other, "cpu.idle"))
    write = apply._write_texts

    def written(run: Any, step: Step) -> None:
        write(run, step)
        kernel.forget_weight()

    monkeypatch.setattr(apply, "_write_texts", written)
    with pytest.raises(ColocationError, match="cpu_idle: writing '1' failed"):
        workflow.execute(tree.node(), plan, Clock())
    assert (tree.read(kernel.cgroup, "cpu.idle"), kernel.weight()) == ("0", kernel.own)


def test_a_record_without_the_weight_can_be_restored(tree: Tree, kernel: Kernel) -> None:
    """Versions before 0.2.0 wrote such a record."""
    tree.run(pod=POD, settings={"cpu_idle": True})
    entries = record.load(tree.host)
    for entry in entries.values():
        assert isinstance(entry.texts, dict)
        entry.texts.pop(kernel.file)
    record.save(tree.host, entries)
    kernel.forget_weight()
    tree.run(pod=POD, state="absent")
    assert (tree.read(kernel.cgroup, "cpu.idle"), kernel.weight()) == ("0", kernel.default)


@pytest.fixture(name="node")
def _node(memory: Path) -> SystemdTree:
    return SystemdTree(memory)


@pytest.mark.parametrize("pids", ["100", "max"])
def test_oom_group_stays_when_a_property_is_set_with_it(node: SystemdTree, pids: str) -> None:
    """systemd writes 0 to the file whenever it writes the unit, whether the other setting narrows or widens."""
    node.file("system.slice", "pids.max").write_text(pids + "\n")
    settings = {"memory_oom_group": True, "pids_max": 1000}
    node.run(settings=settings, **SLICE)
    assert (node.read("system.slice", "memory.oom.group"), node.read("system.slice", "pids.max")) == ("1", "1000")
    assert not node.run(settings=settings, **SLICE)["changed"]


def test_oom_group_is_written_again_when_only_the_other_setting_changes(node: SystemdTree) -> None:
    node.run(settings={"memory_oom_group": True, "pids_max": 1000}, **SLICE)
    node.run(settings={"memory_oom_group": True, "pids_max": 2000}, **SLICE)
    assert node.read("system.slice", "memory.oom.group") == "1"


def planned(mode: str, settings: dict[str, Any], texts: dict[str, str], unit: dict[str, Any]) -> dict[str, Step]:
    target = Target("system.slice", CgroupLevel.OTHER, None, None, "system.slice")
    steps = plan_steps(settings, (), State(target, mode, texts, unit, 252), AppliedSettings({}, "boot"))
    return {step.knob.name: step for step in steps}


PERIODS = [
    pytest.param("v2", {"cpu.max": "max 100000"}, id="v2"),
    pytest.param("v1", {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, id="v1"),
]
ENTRY = record.RecordedSetting(
    *("/sys/fs/cgroup", "system.slice", "cpu_quota", 500000, None),
    *({"cpu.max": "max 100000"}, (Property("CPUQuotaPerSecUSec", "t", INFINITY),), Backend.DBUS, True, "boot"),
)
PERIOD = {"CPUQuotaPeriodUSec": INFINITY, "CPUQuotaPerSecUSec": INFINITY}


@pytest.mark.parametrize(("mode", "texts"), PERIODS)
def test_without_a_quota_systemd_does_not_change_the_period(mode: str, texts: dict[str, str]) -> None:
    """src/core/cgroup.c cgroup_cpu_adjust_period_and_log."""
    alone = planned(mode, {"cpu_period": 50000}, texts, PERIOD)["cpu_period"]
    assert (alone.expected, alone.changed) == (100000, True)
    again = planned(mode, {"cpu_period": 50000}, texts, {**PERIOD, "CPUQuotaPeriodUSec": 50000})["cpu_period"]
    assert (again.expected, again.changed) == (100000, False)
    both = planned(mode, {"cpu_period": 50000, "cpu_quota": 500000}, texts, PERIOD)["cpu_period"]
    assert (both.expected, both.changed) == (50000, True)


def test_a_period_whose_quota_is_restored_has_the_default() -> None:
    unit = {"CPUQuotaPeriodUSec": INFINITY, "CPUQuotaPerSecUSec": 500000}
    texts = {"cpu.max": "50000 100000"}
    target = Target("system.slice", CgroupLevel.OTHER, None, None, "system.slice")
    state, entry = State(target, "v2", texts, unit, 252), ENTRY
    steps = plan_steps({"cpu_period": 20000}, ("cpu_quota",), state, AppliedSettings({"cpu_quota": entry}, "boot"))
    assert {step.knob.name: step.expected for step in steps} == {"cpu_period": 100000, "cpu_quota": None}


def test_with_a_quota_the_unit_gets_the_period() -> None:
    unit = {"CPUQuotaPeriodUSec": INFINITY, "CPUQuotaPerSecUSec": 500000}
    assert planned("v2", {"cpu_period": 20000}, {"cpu.max": "50000 100000"}, unit)["cpu_period"].expected == 20000


@pytest.mark.parametrize(("weight", "bfq"), [(100, "136"), (50, "113"), (20, "100"), (300, "181")])
def test_on_v1_systemd_scales_the_weight_of_blkio_for_bfq(weight: int, bfq: str) -> None:
    """src/core/cgroup.c set_blkio_weight: five times the weight, 1000 at most, on the scale of BFQ."""
    before = planned("v1", {"io_weight": weight}, {"blkio.bfq.weight": "1"}, {"IOWeight": INFINITY})["io_weight"]
    after = State(before.target, "v1", {"blkio.bfq.weight": bfq}, {"IOWeight": weight}, 252)
    assert before.changed
    assert after.value(KNOBS["io_weight"]) == before.expected


def test_a_file_without_a_limit_is_not_written(memory: Path) -> None:
    """The kernel refuses an empty line: block/blk-throttle.c tg_set_conf, EINVAL."""
    tree = Tree(memory, "v1", "cgroupfs")
    for kind in ("read_bps", "write_bps", "read_iops", "write_iops"):
        tree.file("system.slice", f"blkio.throttle.{kind}_device").write_text("\n")
    (step,) = tree.plan(settings={"io_max": {"8:0": {"rbps": 1000}}}, **SLICE).steps
    assert step.texts == {"blkio.throttle.read_bps_device": "8:0 1000"}
    tree.run(settings={"io_max": {"8:0": {"rbps": 1000}}}, **SLICE)
    (step,) = tree.plan(state="absent", **SLICE).steps
    assert step.texts == {"blkio.throttle.read_bps_device": "8:0 0"}
