# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A failed change writes nothing or is rolled back; the error has the cause, the place and a remedy."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.settings import workflow
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import (
    CGROUPS,
    PODS,
    UIDS,
    Tree,
    make_unwritable,
)

BESTEFFORT = CGROUPS["systemd"]["besteffort"]


def refused(tree: Tree, **options: Any) -> str:
    """The text of an error that leaves every file unchanged."""
    before = tree.snapshot()
    with pytest.raises(ColocationError) as caught:
        tree.plan(**options)
    assert tree.snapshot() == before
    return str(caught.value)


def failed(tree: Tree, plan: workflow.Plan) -> str:
    with pytest.raises(ColocationError) as caught:
        workflow.execute(tree.node(), plan, Clock())
    return str(caught.value)


def test_earlier_writes_are_rolled_back_when_one_fails(v2: Tree) -> None:
    before = v2.texts()
    plan = v2.plan(qos_class="besteffort", settings={"cpu_quota": 1, "cpu_burst": 5000, "pids_max": 10})
    # Burst comes last: it is raised after the quota, and the limit of tasks narrows.
    burst = v2.file(BESTEFFORT, "cpu.max.burst")
    burst.unlink()
    burst.mkdir()
    message = failed(v2, plan)
    assert f"/cgroups/{BESTEFFORT}/cpu.max.burst: cpu_burst: writing '5000' failed with EISDIR" in message
    assert "The 2 earlier writes were rolled back" in message
    burst.rmdir()
    burst.write_text("0\n")
    assert v2.texts() == before


def test_an_error_names_what_cannot_be_rolled_back(v2: Tree) -> None:
    plan = v2.plan(slice="system.slice", settings={"cpu_quota": 1, "pids_max": 10, "cpu_burst": 5000})
    v2.file("system.slice", "cpu.max.burst").unlink()
    v2.file("system.slice", "cpu.max.burst").symlink_to("cpu.max")
    message = failed(v2, plan)
    assert "ELOOP (the file is a symbolic link)" in message
    assert v2.read("system.slice", "cpu.max") == "max 100000"


def test_a_value_without_effect_is_an_error_and_rolled_back(v2: Tree) -> None:
    settings = {"cpu_quota": 1, "cpu_weight": 20}
    plan = v2.plan(slice="system.slice", settings=settings)
    weight = v2.file("system.slice", "cpu.weight")
    weight.unlink()
    # The value of another program is read first.
    os.mkfifo(str(weight))
    other = os.open(str(weight), os.O_RDWR | os.O_NONBLOCK)
    os.write(other, b"30\n")
    message = failed(v2, plan)
    assert (
        "cpu_weight of system.slice: 20 was written, but the value is 30. The 2 earlier writes were rolled back"
        in message
    )
    assert os.read(other, 99) == b"100\n"
    os.close(other)
    assert v2.read("system.slice", "cpu.max") == "max 100000"


def test_a_new_limit_of_a_device_is_lifted(v2: Tree) -> None:
    v2.file("system.slice", "io.max").write_text("8:0 rbps=1000 wbps=max riops=max wiops=max\n")
    settings = {"io_max": {"8:16": {"wiops": 5}}, "memory_oom_group": True}
    plan = v2.plan(slice="system.slice", settings=settings)
    make_unwritable(v2.file("system.slice", "memory.oom.group"))
    assert "The earlier write was rolled back" in failed(v2, plan)
    assert v2.read("system.slice", "io.max").splitlines() == [
        "8:0 rbps=1000 wbps=max riops=max wiops=max",
        "8:16 rbps=max wbps=max riops=max wiops=max",
    ]


def test_an_error_names_a_cgroup_that_was_removed(v2: Tree) -> None:
    plan = v2.plan(slice="system.slice", settings={"cpu_weight": 20})
    shutil.rmtree(str(v2.top / "system.slice"))
    message = failed(v2, plan)
    assert "/cgroups/system.slice: cpu_weight: the cgroup does not exist. Nothing had been written" in message


def test_a_link_in_the_path_is_not_followed(v2: Tree) -> None:
    (v2.top / "system.slice" / "link").symlink_to(os.path.join("..", BESTEFFORT))
    assert "symbolic link" in refused(v2, path="system.slice/link", settings={"pids_max": 10})
    (v2.top / "to").symlink_to("kubepods.slice")
    assert "symbolic link" in refused(v2, path="to/kubepods-besteffort.slice", settings={"pids_max": 10})


@pytest.mark.parametrize("path", ["../outside", "/system.slice", "system.slice/../..", "a//b", "", "."])
def test_a_path_that_leaves_the_root_is_refused(v2: Tree, path: str) -> None:
    refused(v2, path=path, settings={"pids_max": 10})


def test_an_error_names_a_missing_cgroup(tree: Tree) -> None:
    assert "there is no cgroup nothing.slice" in refused(tree, slice="nothing.slice", settings={"pids_max": 10})
    assert "of the pod 999" in refused(tree, pod={"uid": "999"}, settings={"pids_max": 10})
    assert "of the pod a/b" in refused(tree, pod={"namespace": "a", "name": "b"}, settings={"pids_max": 10})


def test_the_name_of_a_slice_is_checked(v2: Tree) -> None:
    assert "'a--b.slice'" in refused(v2, slice="a--b.slice", settings={"pids_max": 10})


@pytest.mark.parametrize(
    ("target", "settings", "words"),
    [
        ({"qos_class": "besteffort"}, {"cpu_idle": True}, "kubelet would not start again"),
        ({"path": BESTEFFORT}, {"cpu_idle": True}, "kubelet would not start again"),
        ({"slice": "kubepods-burstable.slice"}, {"cpu_weight": 5}, "every minute"),
        ({"qos_class": "guaranteed"}, {"memory_max": "1Gi"}, "at its start"),
        ({"path": "kubepods.slice"}, {"pids_max": 10, "memory_max": "1Gi"}, "pids_max"),
    ],
)
def test_kubelets_settings_are_refused_for_every_kind_of_target(
    v2: Tree, target: dict[str, Any], settings: dict[str, Any], words: str
) -> None:
    assert words in refused(v2, settings=settings, **target)


def test_idle_can_be_set_on_a_pod(tree: Tree) -> None:
    tree.run(pod={"uid": UIDS["besteffort"]}, settings={"cpu_idle": True})
    assert tree.read(PODS[tree.driver]["besteffort"], "cpu.idle") == "1"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ('{"policyName":"static"}', "static CPU manager"),
        ("damaged", "the policy is unknown"),
        (None, "the policy is unknown"),
    ],
)
def test_cpusets_are_refused_unless_the_cpu_manager_is_not_static(v2: Tree, state: str, words: str) -> None:
    path = Path(v2.host.path("/var/lib/kubelet/cpu_manager_state"))
    v2.run(qos_class="besteffort", settings={"cpuset_cpus": "0-1"})
    v2.run(qos_class="besteffort", state="absent")
    path.unlink()
    if state is not None:
        path.write_text(state)
    assert words in refused(v2, qos_class="besteffort", settings={"cpuset_cpus": "0-1"})
    v2.run(slice="system.slice", settings={"cpuset_cpus": "0-1"})


def test_a_kubelet_tree_below_another_root_is_recognized(v2: Tree) -> None:
    v2.make("kubelet.slice/kubelet-kubepods.slice")
    options: dict[str, Any] = {"path": "kubelet.slice/kubelet-kubepods.slice", "settings": {"cpu_weight": 5}}
    assert "kubelet_cgroup_root" in refused(v2, **options)
    assert "at its start" in refused(v2, kubelet_cgroup_root="/kubelet", **options)


def test_a_name_that_ends_with_kubepods_is_not_a_kubelet_tree(v2: Tree) -> None:
    v2.make("mykubepods")
    assert v2.run(path="mykubepods", settings={"cpu_weight": 5})["changed"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cpu_quota": "-1"}, "cpu_quota"),
        ({"memory_high": "much"}, "memory_high"),
        ({"nonsense": 1}, "nonsense"),
        ({"io_max": {"/dev/nothing": {"rbps": 1}}}, "/dev/nothing"),
        ({"pids_max": 0}, "pids_max"),
        ({"cpu_quota": 1, "cpu_burst": "200ms"}, "a burst is at most the quota"),
        ({"memory_max": "1Gi", "memory_high": "2Gi"}, "memory_high is more than memory_max"),
    ],
)
def test_errors_name_invalid_values(v2: Tree, settings: dict[str, Any], words: str) -> None:
    assert words in refused(v2, slice="system.slice", settings={"pids_max": 10, **settings})


def test_a_knob_that_the_kernel_lacks_fails_or_is_skipped(v2: Tree) -> None:
    v2.file("system.slice", "cpu.max.burst").unlink()
    settings = {"cpu_burst": 5000, "cpu_bvt_warp_ns": -1, "memory_qos_level": -1, "pids_max": 10}
    message = refused(v2, slice="system.slice", settings=settings)
    assert "cpu_burst: this kernel has no cpu.max.burst in /cgroups/system.slice" in message
    assert "memory_qos_level: cgroup v2 does not have this setting" in message
    result = v2.run(slice="system.slice", settings=settings, unsupported="skip")
    assert [setting["knob"] for setting in result["unsupported"]] == [
        "cpu_burst",
        "cpu_bvt_warp_ns",
        "memory_qos_level",
    ]
    assert [setting["knob"] for setting in result["settings"]] == ["pids_max"]
    assert not v2.run(slice="system.slice", settings=settings, unsupported="skip")["changed"]


def test_an_offline_cgroup_stays_offline(memory: Path) -> None:
    tree = Tree(memory, "v1", "cgroupfs")
    tree.run(path="system.slice", settings={"cpu_qos_level": -1, "pids_max": 10})
    assert "stays offline" in refused(tree, path="system.slice", settings={"cpu_qos_level": 0})
    assert [setting["knob"] for setting in tree.run(path="system.slice", state="absent")["settings"]] == ["pids_max"]
    assert tree.read("system.slice", "cpu.qos_level") == "-1"
    assert not tree.run(path="system.slice", state="absent")["changed"]


def test_a_controller_that_is_not_enabled_is_named(v2: Tree) -> None:
    v2.file("system.slice", "cgroup.controllers").write_text("cpu memory pids\n")
    v2.file("system.slice", "io.max").unlink()
    message = refused(v2, slice="system.slice", settings={"io_max": {"8:0": {"rbps": 1000}}})
    assert "the controller io is not enabled for /cgroups/system.slice" in message


def test_a_hierarchy_without_the_cgroup_is_named(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v1", "cgroupfs")
    (tree.top / "cpuset" / "own").mkdir()
    message = refused(tree, path="own", settings={"pids_max": 10})
    assert "/cgroups/pids/own does not exist" in message


def test_an_unknown_driver_must_be_set(v2: Tree) -> None:
    v2.make("kubepods", "4712")
    message = refused(v2, qos_class="besteffort", settings={"pids_max": 10})
    assert "processes are in both" in message
    assert "cgroup_driver" in message
    v2.run(qos_class="besteffort", settings={"pids_max": 10}, cgroup_driver="systemd")
    v2.make("kubepods")
    v2.make(PODS["systemd"]["besteffort"] + "/container")
    assert "no process is in either" in refused(v2, qos_class="besteffort", settings={"pids_max": 11})


def test_a_populated_tree_of_v2_needs_no_walk(v2: Tree) -> None:
    v2.file("kubepods.slice", "cgroup.events").write_text("populated 0\nfrozen 0\n")
    v2.file(PODS["systemd"]["besteffort"] + "/container", "cgroup.procs").write_text("4711\n")
    v2.make("kubepods", "")
    v2.file("kubepods", "cgroup.events").write_text("populated 1\nfrozen 0\n")
    v2.make("kubepods/besteffort")
    assert v2.run(qos_class="besteffort", settings={"pids_max": 10})["control_group"] == "/kubepods/besteffort"


def test_a_damaged_record_stops_before_anything_is_written(v2: Tree) -> None:
    v2.write("/var/lib/volcano-colocation/qos.json", '{"settings": [{"cgroup": "x"}]}')
    assert "it is damaged" in refused(v2, slice="system.slice", settings={"pids_max": 10})


def test_options_that_contradict_each_other_are_refused(v2: Tree) -> None:
    assert "state: absent" in refused(v2, slice="system.slice", settings={"pids_max": 10}, state="absent")
    assert "level: pods" in refused(v2, slice="system.slice", level="pods", settings={"pids_max": 10})
