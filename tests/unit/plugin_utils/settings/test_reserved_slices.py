# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices beside the pods: their reservations, their properties, and what kubelet writes itself."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.node_support import SliceTask
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.task_plan import plan_tasks
from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import (
    RESERVED,
    V1,
    V2,
    Change,
    driver,
    node,
    plan,
    profile,
    properties,
    reason,
    setting,
    version,
)

GIB = 1024**3
ENFORCED = (
    setting("systemReserved", {"cpu": "500m", "memory": "1Gi", "pid": "1000"}),
    setting("systemReservedCgroup", "/system.slice"),
    setting("enforceNodeAllocatable", ["pods", "system-reserved"]),
)
ALL_V2 = ("cpu", "cpuset", "memory", "hugetlb", "pids")
ALL_V1 = ("cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb")


@pytest.mark.parametrize(
    ("name", "reserved", "expected"),
    [
        (V2, {"systemReserved": {"cpu": "500m"}}, {"CPUWeight": 20}),
        (V1, {"systemReserved": {"cpu": "500m"}}, {"CPUWeight": 50}),
        # Both reservations belong to system.slice unless one of them has its own cgroup.
        (V2, {"systemReserved": {"cpu": "500m"}, "kubeReserved": {"cpu": "500m"}}, {"CPUWeight": 39}),
        (V2, {"reservedSystemCPUs": "0-1"}, {"CPUWeight": 79}),
        (
            V2,
            {"systemReserved": {"cpu": "500m", "memory": "1Gi"}},
            {"CPUWeight": 20, "MemoryLow": GIB},
        ),
        # systemd has no MemoryLow on v1.
        (V1, {"systemReserved": {"cpu": "500m", "memory": "1Gi"}}, {"CPUWeight": 50}),
    ],
)
def test_system_slice_gets_the_reservation(name: str, reserved: dict[str, Any], expected: Any) -> None:
    tasks = plan(name, *(setting(key, value) for key, value in reserved.items()))
    assert properties(tasks, "system.slice") == expected


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ({"cpu_weight": "250"}, {"CPUWeight": 250, "MemoryLow": GIB}),
        ({"cpu_weight": ""}, {"MemoryLow": GIB}),
        ({"memory": "min"}, {"CPUWeight": 20, "MemoryMin": GIB}),
        ({"memory": "none"}, {"CPUWeight": 20}),
    ],
)
def test_options_of_a_slice_replace_values_of_the_reservation(system: dict[str, str], expected: dict[str, Any]) -> None:
    tasks = plan(V2, setting("systemReserved", {"cpu": "500m", "memory": "1Gi"}), system=system)
    assert properties(tasks, "system.slice") == expected


def test_of_no_reservation_follows_no_weight() -> None:
    assert "no CPU is reserved" in reason(
        plan(V2, setting("systemReserved", {})), "system", "CPUWeight of system.slice"
    )


def test_memory_that_v1_cannot_protect_is_reported() -> None:
    tasks = plan(V1, setting("systemReserved", {"cpu": "500m", "memory": "1Gi"}))
    assert reason(tasks, "system", "MemoryLow of system.slice") == "systemd sets it on cgroup v2 only"


@pytest.mark.parametrize(
    ("name", "driver_name", "expected"),
    [
        # The values that kubelet writes at its start, so that a daemon-reload keeps them, and those it does not write.
        (V2, "systemd", {"CPUWeight": 20, "MemoryMax": GIB, "TasksMax": 1000, "MemoryLow": GIB}),
        (V2, "cgroupfs", {"CPUWeight": 20, "MemoryMax": GIB, "TasksMax": 1000, "MemoryLow": GIB}),
        (V1, "systemd", {"CPUWeight": 50, "MemoryMax": GIB, "TasksMax": 1000}),
    ],
)
def test_a_slice_of_an_enforced_reservation_gets_the_values_of_kubelet(
    name: str, driver_name: str, expected: dict[str, Any]
) -> None:
    assert properties(plan(name, *ENFORCED, driver(driver_name)), "system.slice") == expected


@pytest.mark.parametrize("weight", ["250", ""])
def test_another_weight_than_kubelets_own_is_not_set(weight: str) -> None:
    tasks = plan(V2, *ENFORCED, system={"cpu_weight": weight})
    assert properties(tasks, "system.slice")["CPUWeight"] == 20
    thing = f"CPUWeight {weight or 'by default'} of system.slice"
    assert "kubelet enforces system-reserved on it" in reason(tasks, "system", thing)


def test_a_slice_without_properties_is_absent() -> None:
    assert plan(V2, setting("systemReserved", {})).slices == (SliceTask("system.slice", "absent"),)


def test_compressible_enforcement_limits_no_memory() -> None:
    compressible = setting("enforceNodeAllocatable", ["pods", "system-reserved-compressible"])
    tasks = plan(V2, *ENFORCED, compressible, version("1.36.1"), driver("cgroupfs"))
    assert properties(tasks, "system.slice") == {"CPUWeight": 20, "MemoryLow": GIB}


def test_memory_of_an_enforced_reservation_is_memory_qos_where_that_is_on() -> None:
    tasks = plan(V2, *ENFORCED, version("1.31.2"), setting("featureGates", {"MemoryQoS": True}))
    assert properties(tasks, "system.slice") == {"CPUWeight": 20, "MemoryMax": GIB, "TasksMax": 1000}
    assert "MemoryQoS" in reason(tasks, "system", "MemoryLow of system.slice")


def test_a_slice_that_kubelet_must_find() -> None:
    """The name by kubelet's rule, the controllers that kubelet checks, and the weight of 200m:
    1 + (204 - 2) * 9999 / 262142."""
    tasks = plan(RESERVED)
    description = "Reserved for Kubernetes (volcano.colocation)"
    task = SliceTask("podruntime-agents.slice", "present", description, {"CPUWeight": 8}, ALL_V2)
    assert tasks.reserved == (task,)
    assert tasks.slices == (SliceTask("system.slice", "absent"), task)


def test_each_reservation_weighs_its_own_slice() -> None:
    changes = (
        setting("systemReserved", {"cpu": "500m"}),
        setting("kubeReserved", {"cpu": "1", "memory": "1Gi"}),
        setting("kubeReservedCgroup", "/runtime.slice"),
    )
    tasks = plan(V2, *changes)
    assert [(task.name, dict(task.properties)) for task in tasks.slices] == [
        ("system.slice", {"CPUWeight": 20}),
        ("runtime.slice", {"CPUWeight": 39, "MemoryLow": GIB}),
    ]


def test_v1_wants_the_controllers_that_systemd_does_not_know() -> None:
    tasks = plan(V1, setting("kubeReservedCgroup", "runtime"))
    assert [(task.name, task.controllers) for task in tasks.reserved] == [("runtime.slice", ALL_V1)]


def test_system_slice_keeps_its_own_description() -> None:
    tasks = plan(V2, setting("systemReservedCgroup", "/system.slice"))
    assert tasks.reserved == (SliceTask("system.slice", "present", None, {"CPUWeight": 20}, ALL_V2),)
    assert properties(tasks, "system.slice") == {"CPUWeight": 20}


def test_the_cgroups_of_the_profile_override_those_in_kubelets_file() -> None:
    cgroups = {"kubeReservedCgroup": "/runtime.slice"}
    tasks = plan_tasks(node(V2, setting("kubeReservedCgroup", "/old.slice")), profile(), cgroups)
    assert [task.name for task in tasks.reserved] == ["runtime.slice"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([setting("kubeReservedCgroup", "/runtime"), driver("cgroupfs")], "not the path of a slice"),
        ([setting("kubeReservedCgroup", "/a--b")], "each dash in it starts a level"),
        ([setting("kubeReservedCgroup", "/runtime.slice"), driver(None)], "driver is not known"),
    ],
)
def test_a_cgroup_that_is_not_a_slice_is_reported_and_gets_no_weight(changes: list[Change], says: str) -> None:
    tasks = plan(V2, setting("kubeReserved", {"cpu": "1"}), *changes)
    assert says in reason(tasks, "system", "kubeReservedCgroup")
    assert tasks.reserved == ()
    assert properties(tasks, "system.slice") == {"CPUWeight": 20}
