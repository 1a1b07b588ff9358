# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Volcano agent's levels, LC/HLS/LS/BE = 2/2/1/-1 and memory 0/0/0/-1, on each kind of kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import (
    OPENEULER,
    V1,
    V2,
    Change,
    feature,
    plan,
    reason,
    sysctl,
)

ALL = ["LC", "HLS", "LS", "BE"]
NO_MEMORY = feature("memory_qos_level", False)
ANOLIS = feature("cpu_bvt", True)
HUAWEI = ("kernel", "release", "5.10.0-60.18.0.50.r865_35.hce2.x86_64")


@pytest.mark.parametrize(
    ("name", "changes", "kernel_levels", "key", "numbers"),
    [
        (OPENEULER, [NO_MEMORY], "auto", "cpu_qos_level", [0, 0, 0, -1]),
        (OPENEULER, [NO_MEMORY], "two", "cpu_qos_level", [0, 0, 0, -1]),
        (OPENEULER, [NO_MEMORY], "multi", "cpu_qos_level", [2, 2, 1, -1]),
        (OPENEULER, [NO_MEMORY, HUAWEI], "auto", "cpu_qos_level", [2, 2, 1, -1]),
        (OPENEULER, [NO_MEMORY, HUAWEI], "two", "cpu_qos_level", [0, 0, 0, -1]),
        (V2, [ANOLIS], "auto", "cpu_bvt_warp_ns", [2, 2, 1, -1]),
        (V1, [ANOLIS], "auto", "cpu_bvt_warp_ns", [2, 2, 1, -1]),
        (OPENEULER, [feature("cpu_qos_level", False)], "auto", "memory_qos_level", [0, 0, 0, -1]),
    ],
)
def test_levels_have_the_numbers_of_the_kernel(
    name: str, changes: Sequence[Change], kernel_levels: str, key: str, numbers: list[int]
) -> None:
    levels = plan(name, *changes, kernel_levels=kernel_levels).levels
    assert [levels[level][key] for level in ALL] == numbers


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        # A mainline kernel has idle, but no level above normal.
        (V2, [], [{}, {}, {}, {"cpu_idle": True}]),
        (V2, [feature("cpu_idle", False)], [{}, {}, {}, {}]),
        # openEuler's levels exist on v1 only.
        (V2, [feature("cpu_qos_level", True), feature("memory_qos_level", True)], [{}, {}, {}, {"cpu_idle": True}]),
        # Group identity without an effect is not used.
        (
            V2,
            [ANOLIS, sysctl("/proc/sys/kernel/sched_group_identity_enabled", "0")],
            [{}, {}, {}, {"cpu_idle": True}],
        ),
        (V2, [ANOLIS, sysctl("/proc/sys/kernel/sched_core", "1")], [{}, {}, {}, {"cpu_idle": True}]),
        (
            OPENEULER,
            [],
            [*[{"cpu_qos_level": 0, "memory_qos_level": 0}] * 3, {"cpu_qos_level": -1, "memory_qos_level": -1}],
        ),
        # Without the sysctl the kernel ignores memory.qos_level.
        (
            OPENEULER,
            [sysctl("/proc/sys/vm/memcg_qos_enable", "0")],
            [*[{"cpu_qos_level": 0}] * 3, {"cpu_qos_level": -1}],
        ),
    ],
)
def test_all_that_a_pod_of_a_level_gets(name: str, changes: Sequence[Change], expected: list[Any]) -> None:
    levels = plan(name, *changes).levels
    assert [levels[level] for level in ALL] == expected


def test_burst_is_for_pods_with_latency() -> None:
    levels = plan(V2, ls={"cpu_burst": "20000"}).levels
    assert levels["LS"] == {"cpu_burst": 20000}
    assert "cpu_burst" not in levels["HLS"]
    assert plan(V2, feature("cpu_burst", False), ls={"cpu_burst": "20000"}).levels["LS"] == {}


@pytest.mark.parametrize(
    ("name", "changes", "level", "thing", "says"),
    [
        (V2, [], "LC", "cpu.qos_level 2", "the pod does not run before others"),
        (V2, [], "HLS", "cpu.qos_level 2", "has no cpu.qos_level and no cpu.bvt_warp_ns"),
        (V2, [], "LS", "cpu.qos_level 1", "its share is its CPU request"),
        (V2, [], "BE", "cpu.qos_level -1", "cpu.idle of the pod"),
        (V2, [], "BE", "memory.qos_level -1", "has no memory.qos_level"),
        (V2, [], "LS", "cpu_burst", "enable-quota-burst"),
        (V2, [feature("cpu_burst", False)], "LS", "cpu_burst", "has no /sys/fs/cgroup"),
        (V2, [], "BE", "cpu_idle", "kubelet would not start again"),
        (V2, [feature("cpu_idle", False)], "BE", "cpu_idle", "has no /sys/fs/cgroup"),
        (V2, [feature("cpu_qos_level", None)], "BE", "cpu.qos_level -1", "it is unknown whether"),
        (V2, [feature("memory_qos_level", None)], "BE", "memory.qos_level -1", "it is unknown whether"),
        (V2, [feature("cpu_qos_level", True)], "BE", "cpu.qos_level -1", "exists on cgroup v1 only"),
        (V2, [feature("memory_qos_level", True)], "BE", "memory.qos_level -1", "exists on cgroup v1 only"),
        (OPENEULER, [], "HLS", "cpu.qos_level 2", "set kernel_levels: multi"),
        (OPENEULER, [], "LS", "cpu.qos_level 1", "0 and -1 are the levels"),
        (OPENEULER, [], "BE", "cpu.qos_level -1", ""),
        (
            OPENEULER,
            [sysctl("/proc/sys/vm/memcg_qos_enable", "0")],
            "BE",
            "memory.qos_level -1",
            "memcg_qos_enable is 0",
        ),
        (V2, [ANOLIS], "HLS", "cpu.qos_level 2", ""),
        (V2, [ANOLIS, sysctl("/proc/sys/kernel/sched_core", "1")], "BE", "cpu.qos_level -1", "kernel.sched_core is 1"),
    ],
)
def test_what_a_level_does_not_get(name: str, changes: Sequence[Change], level: str, thing: str, says: str) -> None:
    text = reason(plan(name, *changes, levels=ALL), level, thing)
    assert says in text
    assert bool(says) is bool(text)


def test_listed_pods_get_the_settings_of_their_level() -> None:
    listed = [
        {"uid": "1a-2b", "level": "BE"},
        {"namespace": "shop", "name": "web", "level": "LS"},
        {"namespace": "shop", "name": "db", "level": "HLS"},
    ]
    tasks = plan(V2, pods=listed, ls={"cpu_burst": "20000"})
    assert [(task.target, task.settings) for task in tasks.cgroups if "pod" in task.target] == [
        ({"pod": {"uid": "1a-2b"}}, {"cpu_idle": True}),
        ({"pod": {"namespace": "shop", "name": "web"}}, {"cpu_burst": 20000}),
        # HLS has no setting on this kernel, so there is no task.
    ]


def test_what_the_level_of_a_listed_pod_lacks_is_reported() -> None:
    assert reason(plan(V2), "LC", "cpu.qos_level 2") == ""
    assert reason(plan(V2, pods=[{"uid": "1a", "level": "LC"}]), "LC", "cpu.qos_level 2")


def test_every_besteffort_pod_yields_only_when_asked() -> None:
    target = {"qos_class": "besteffort", "level": "pods"}
    assert target not in [task.target for task in plan(V2).cgroups]
    tasks = plan(V2, be={"cpu_idle": True})
    assert [task.settings for task in tasks.cgroups if task.target == target] == [{"cpu_idle": True}]
    assert reason(tasks, "BE", "cpu_idle") == ""
    assert target not in [task.target for task in plan(V2, be={"cpu_idle": True}, levels=["LS"]).cgroups]
