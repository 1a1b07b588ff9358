# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set, again, change, again, remove, again: on v1 and v2, with both drivers. Check mode precedes each run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Mapping

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.settings.change_plan import Step
from ansible_collections.volcano.colocation.plugins.module_utils.settings.codec import Backend
from ansible_collections.volcano.colocation.plugins.module_utils.settings.write_order import split_independent
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import CGROUPS, PODS, UIDS, Tree

SETTINGS: dict[str, Any] = {"cpu_quota": "1.5", "cpu_burst": "20ms", "memory_max": "1Gi", "pids_max": 500}
WRITTEN = {
    "v2": {"cpu.max": "150000 100000", "cpu.max.burst": "20000", "memory.max": "1073741824", "pids.max": "500"},
    "v1": {
        "cpu.cfs_quota_us": "150000",
        "cpu.cfs_burst_us": "20000",
        "memory.limit_in_bytes": "1073741824",
        "pids.max": "500",
    },
}
CHANGED = {
    "v2": {"cpu.max": "10000 100000", "cpu.max.burst": "0", "memory.max": "1073741824", "pids.max": "500"},
    "v1": {
        "cpu.cfs_quota_us": "10000",
        "cpu.cfs_burst_us": "0",
        "memory.limit_in_bytes": "1073741824",
        "pids.max": "500",
    },
}

TARGETS = [
    pytest.param({"qos_class": "besteffort"}, lambda driver: CGROUPS[driver]["besteffort"], id="class"),
    pytest.param({"pod": {"uid": UIDS["guaranteed"]}}, lambda driver: PODS[driver]["guaranteed"], id="pod by UID"),
    pytest.param(
        {"pod": {"namespace": "default", "name": "burstable"}},
        lambda driver: PODS[driver]["burstable"],
        id="pod by name",
    ),
    pytest.param({"slice": "system.slice"}, lambda _driver: "system.slice", id="slice"),
    pytest.param({"path": "system.slice"}, lambda _driver: "system.slice", id="path"),
]


def now(tree: Tree, cgroup: str, names: Any) -> dict[str, str]:
    return {name: tree.read(cgroup, name) for name in names}


@pytest.mark.parametrize(("target", "where"), TARGETS)
def test_settings_are_set_changed_and_removed_as_check_mode_predicts(
    tree: Tree, target: dict[str, Any], where: Any
) -> None:
    cgroup, untouched = where(tree.driver), tree.texts()

    first = tree.run(settings=SETTINGS, **target)
    assert first["changed"]
    assert first["control_group"] == "/" + cgroup
    assert {
        setting["knob"]: (setting["backend"], setting["changed"]) for setting in first["settings"]
    } == dict.fromkeys(SETTINGS, ("file", True))
    assert now(tree, cgroup, WRITTEN[tree.mode]) == WRITTEN[tree.mode]
    assert not tree.run(settings=SETTINGS, **target)["changed"]

    changed = tree.run(settings={**SETTINGS, "cpu_quota": "0.1", "cpu_burst": 0}, **target)
    assert {setting["knob"] for setting in changed["settings"] if setting["changed"]} == {"cpu_quota", "cpu_burst"}
    assert now(tree, cgroup, CHANGED[tree.mode]) == CHANGED[tree.mode]
    assert not tree.run(settings={**SETTINGS, "cpu_quota": "0.1", "cpu_burst": 0}, **target)["changed"]

    assert tree.run(state="absent", **target)["changed"]
    assert tree.texts() == untouched
    assert not tree.run(state="absent", **target)["changed"]


def test_null_restores_one_knob_and_no_other(tree: Tree) -> None:
    cgroup, files = CGROUPS[tree.driver]["besteffort"], WRITTEN[tree.mode]
    before = now(tree, cgroup, files)
    tree.run(qos_class="besteffort", settings=SETTINGS)
    restored = {"pids_max": None, "cpu_burst": None, "cpu_weight": None}
    assert {setting["knob"] for setting in tree.run(qos_class="besteffort", settings=restored)["settings"]} == {
        "pids_max",
        "cpu_burst",
    }
    burst = "cpu.max.burst" if tree.mode == "v2" else "cpu.cfs_burst_us"
    expected = {**files, "pids.max": before["pids.max"], burst: before[burst]}
    assert now(tree, cgroup, files) == expected
    assert not tree.run(qos_class="besteffort", settings=restored)["changed"]


def test_the_original_value_is_recorded_once(v2: Tree) -> None:
    v2.file("system.slice", "memory.high").write_text("4096000\n")
    v2.run(slice="system.slice", settings={"memory_high": "2Gi"})
    v2.run(slice="system.slice", settings={"memory_high": "3Gi"})
    v2.run(slice="system.slice", state="absent")
    assert v2.read("system.slice", "memory.high") == "4096000"


def test_shares_without_a_whole_weight_are_restored(tmp_path: Any) -> None:
    tree = Tree(tmp_path, "v1", "cgroupfs")
    tree.file("system.slice", "cpu.shares").write_text("100\n")
    tree.run(slice="system.slice", settings={"cpu_weight": 200})
    assert tree.read("system.slice", "cpu.shares") == "2048"
    tree.run(slice="system.slice", state="absent")
    assert tree.read("system.slice", "cpu.shares") == "100"


def test_drift_is_reported_with_its_cause_and_repaired(v2: Tree) -> None:
    v2.run(slice="system.slice", settings={"cpu_burst": 5000, "cpu_quota": 2})
    v2.file("system.slice", "cpu.max.burst").write_text("0\n")
    (drifted, _right) = v2.run(slice="system.slice", settings={"cpu_burst": 5000, "cpu_quota": 2})["settings"]
    assert (drifted["knob"], drifted["before"], drifted["after"]) == ("cpu_burst", "0", "5000")
    assert drifted["cause"] == "the cgroup was re-created, or another program wrote the file"
    assert v2.read("system.slice", "cpu.max.burst") == "5000"
    v2.run(slice="system.slice", state="absent")
    assert (v2.read("system.slice", "cpu.max.burst"), v2.read("system.slice", "cpu.max")) == ("0", "max 100000")


def test_rounding_is_not_a_change(v2: Tree) -> None:
    assert v2.run(slice="system.slice", settings={"memory_high": 1000000})["changed"]
    v2.file("system.slice", "memory.high").write_text("999424\n")
    assert not v2.run(slice="system.slice", settings={"memory_high": 1000000})["changed"]


def test_percentages_are_parts_of_the_node(v2: Tree) -> None:
    v2.run(qos_class="besteffort", settings={"cpu_quota": "50%", "memory_high": "25%"})
    cgroup = CGROUPS["systemd"]["besteffort"]
    assert now(v2, cgroup, ["cpu.max", "memory.high"]) == {"cpu.max": "200000 100000", "memory.high": "2147483648"}
    v2.run(qos_class="besteffort", settings={"cpu_quota": "50%", "memory_high": "25%"}, cpus=2.0, memory="4Gi")
    assert now(v2, cgroup, ["cpu.max", "memory.high"]) == {"cpu.max": "100000 100000", "memory.high": "1073741824"}


def test_a_setting_of_pods_applies_to_every_pod_of_the_class(tree: Tree) -> None:
    other = PODS[tree.driver]["burstable"][:-8] + PODS[tree.driver]["burstable"][-8:].replace("a", "b")
    tree.make(other)
    result = tree.run(qos_class="burstable", level="pods", settings={"pids_max": 77})
    assert {setting["cgroup"] for setting in result["settings"]} == {PODS[tree.driver]["burstable"], other}
    assert result["control_group"] == "/" + CGROUPS[tree.driver]["burstable"]
    assert tree.read(other, "pids.max") == "77"
    assert tree.read(CGROUPS[tree.driver]["burstable"], "pids.max") == "max"
    assert not tree.run(qos_class="burstable", level="pods", settings={"pids_max": 77})["changed"]
    tree.run(qos_class="burstable", level="pods", state="absent")
    assert tree.read(other, "pids.max") == "max"


def test_settings_of_a_deleted_pod_are_deleted(v2: Tree) -> None:
    pod = {"uid": UIDS["burstable"]}
    v2.run(pod=pod, settings={"pids_max": 77})
    directory = v2.top / PODS["systemd"]["burstable"]
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    assert v2.run(pod=pod, state="absent")["changed"]
    assert not v2.run(pod=pod, state="absent")["changed"]
    assert not (v2.directory / "var/lib/volcano-colocation/qos.json").exists()


def test_a_setting_that_is_not_persistent_ends_with_the_boot(v2: Tree) -> None:
    v2.run(slice="system.slice", settings={"pids_max": 77}, persistent=False)
    assert not v2.run(slice="system.slice", settings={"pids_max": 77}, persistent=False)["changed"]
    v2.write("/proc/sys/kernel/random/boot_id", "second-boot\n")
    v2.file("system.slice", "pids.max").write_text("900\n")
    v2.run(slice="system.slice", settings={"pids_max": 77})
    v2.run(slice="system.slice", state="absent")
    assert v2.read("system.slice", "pids.max") == "900"


def test_a_second_run_on_five_hundred_pods_writes_nothing(v2: Tree) -> None:
    for number in range(499):
        v2.make(f"{CGROUPS['systemd']['besteffort']}/kubepods-besteffort-pod{number:032x}.slice")
    settings = {**SETTINGS, "memory_high": "900Mi", "io_max": {"8:0": {"rbps": "10M"}}}
    first = v2.run(qos_class="besteffort", level="pods", settings=settings)
    assert len([setting for setting in first["settings"] if setting["changed"]]) == 500 * 6
    # ``run`` compares time and text of every file when nothing has changed.
    assert not v2.run(qos_class="besteffort", level="pods", settings=settings)["changed"]


@pytest.mark.parametrize(("memory", "swap"), [("2Gi", "1Gi"), ("512Mi", "1Gi"), ("2Gi", 0), ("512Mi", 0)])
def test_memory_and_swap_of_v1_change_together(tmp_path: Path, memory: str, swap: Any) -> None:
    tree = Tree(tmp_path, "v1", "cgroupfs")
    tree.run(path="system.slice", settings={"memory_max": "1Gi", "memory_swap_max": "256Mi"})
    tree.run(path="system.slice", settings={"memory_max": memory, "memory_swap_max": swap})
    mebibytes = {"2Gi": 2048, "512Mi": 512, "1Gi": 1024, 0: 0}
    both = (mebibytes[memory] + mebibytes[swap]) * 1048576
    assert tree.read("system.slice", "memory.memsw.limit_in_bytes") == str(both)


def test_independent_cgroups_are_changed_separately(v2: Tree) -> None:
    besteffort, pod = CGROUPS["systemd"]["besteffort"], PODS["systemd"]["besteffort"]

    def planned(cgroup: str, settings: Mapping[str, Any]) -> tuple[Step, ...]:
        return v2.plan(path=cgroup, settings=settings).steps

    independent = [*planned("system.slice", {"pids_max": 10, "cpu_weight": 20}), *planned(pod, {"pids_max": 10})]
    assert split_independent(independent) == ([independent[:2], independent[2:]], [])
    nested = [*independent, *planned(besteffort, {"pids_max": 20})]
    assert split_independent(nested) == ([independent[:2]], nested[2:])
    by_systemd = [replace(independent[0], backend=Backend.DBUS), *independent[1:]]
    assert split_independent(by_systemd) == ([independent[2:]], by_systemd[:2])
    assert split_independent([replace(setting, changed=False) for setting in independent]) == ([], [])
