# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of kubelet's QoS classes, by kernel, kubelet and profile. The numbers were computed by hand."""

from __future__ import annotations

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
    setting,
    settings,
    sysctl,
    version,
)

PROTECTED = {"memory_low": "50%", "memory_min": None}


def test_the_default_profile_on_v2_protects_two_classes_and_limits_the_third() -> None:
    tasks = plan(V2)
    assert [task.target["qos_class"] for task in tasks.cgroups] == ["guaranteed", "burstable", "besteffort"]
    assert settings(tasks, "guaranteed") == PROTECTED
    assert settings(tasks, "burstable") == PROTECTED
    # (2 - 0.5) CPUs * 60 %
    assert settings(tasks, "besteffort") == {
        "cpu_quota": 0.9,
        "memory_high": "80%",
        "memory_max": None,
        "pids_max": 32768,
    }


def test_the_default_profile_on_v1_has_no_soft_limits() -> None:
    tasks = plan(V1)
    assert settings(tasks, "guaranteed") is None
    assert settings(tasks, "burstable") is None
    assert settings(tasks, "besteffort") == {"cpu_quota": 0.9, "memory_max": None, "pids_max": 32768}
    assert "memory_max also limits on v1, but kills" in reason(tasks, "BE", "memory_high")
    assert "memory.low, which needs cgroup v2" in reason(tasks, "LS", "memory_low")
    # A setting that is not in the profile is not reported.
    assert reason(tasks, "LS", "memory_min") == ""


def test_a_vendors_v1_kernel_throttles_memory_too() -> None:
    assert settings(plan(OPENEULER), "besteffort")["memory_high"] == "80%"


@pytest.mark.parametrize(
    ("quota", "reserved", "expected"),
    [
        ("60%", {"systemReserved": {"cpu": "500m"}}, 0.9),
        ("60%", {"systemReserved": {"cpu": "500m"}, "kubeReserved": {"cpu": "250m"}}, 0.75),
        # reservedSystemCPUs replaces both.
        ("50%", {"reservedSystemCPUs": "1", "kubeReserved": {"cpu": "250m"}}, 0.5),
        # 33 % of 1.5 is 0.495: truncated to hundredths of a CPU.
        ("33%", {"systemReserved": {"cpu": "500m"}}, 0.49),
        ("0.1%", {"systemReserved": {"cpu": "500m"}}, 0.01),
        ("1.25", {}, 1.25),
        ("2", {}, 2.0),
        ("", {}, None),
    ],
)
def test_the_quota_is_a_share_of_the_cpus_that_are_not_reserved(
    quota: str, reserved: dict[str, Any], expected: float | None
) -> None:
    changes = [setting(key, value) for key, value in {"systemReserved": {}, **reserved}.items()]
    assert settings(plan(V2, *changes, be={"cpu_quota": quota}), "besteffort")["cpu_quota"] == expected


@pytest.mark.parametrize(
    ("change", "quota", "says"),
    [
        (("cpu", "online", None), "60%", "the number of CPUs for pods is unknown"),
        (setting("systemReserved", {"cpu": "2"}), "60%", "the number of CPUs for pods is unknown"),
        (("cpu", "online", "0-1"), "60", "60 CPUs limit nothing on a node with 2"),
        (("cgroup", "controllers", ["memory", "pids"]), "60%", "the controller cpu is not available"),
    ],
)
def test_a_quota_that_cannot_be(change: Change, quota: str, says: str) -> None:
    tasks = plan(V2, change, be={"cpu_quota": quota})
    assert "cpu_quota" not in settings(tasks, "besteffort")
    assert says in reason(tasks, "BE", "cpu_quota")


def test_an_old_kernel_is_not_throttled_by_memory() -> None:
    tasks = plan(V2, ("kernel", "release", "5.8.18-1"))
    assert "memory_high" not in settings(tasks, "besteffort")
    assert "may stall" in reason(tasks, "BE", "memory_high")
    assert settings(tasks, "burstable") == PROTECTED


def test_protection_that_children_do_not_inherit_is_not_set() -> None:
    tasks = plan(V2, ("kernel", "release", "5.6.19"))
    assert settings(tasks, "burstable") is None
    assert "memory_recursiveprot" in reason(tasks, "LS", "memory_low")


@pytest.mark.parametrize(
    "changes",
    [
        # KEP-2570: on if the gate is set, on by default from 1.37 on, where kubelet also resets values of others.
        [setting("featureGates", {"MemoryQoS": True}), version("1.31.2")],
        [version("1.37.0")],
        [setting("featureGates", {"MemoryQoS": False}), version("1.37.0")],
        [version(None)],
    ],
)
def test_memory_that_kubelet_protects_is_not_set(changes: list[Change]) -> None:
    tasks = plan(V2, *changes)
    assert settings(tasks, "guaranteed") is None
    assert settings(tasks, "burstable") is None
    assert reason(tasks, "LS", "memory_low")
    # No other program writes memory.high of a class.
    assert settings(tasks, "besteffort")["memory_high"] == "80%"


@pytest.mark.parametrize(("text", "gate"), [("1.36.3", None), ("1.31.2", False)])
def test_memory_that_kubelet_does_not_protect_is_set(text: str, gate: bool | None) -> None:
    changes = [version(text), *([] if gate is None else [setting("featureGates", {"MemoryQoS": gate})])]
    assert settings(plan(V2, *changes), "burstable") == PROTECTED


def test_settings_of_a_removed_level_are_restored() -> None:
    tasks = plan(V2, levels=["HLS"])
    assert settings(tasks, "burstable") == {"memory_low": None, "memory_min": None}
    assert settings(tasks, "besteffort") == dict.fromkeys(("cpu_quota", "memory_high", "memory_max", "pids_max"))
    assert {entry.level for entry in tasks.unsupported} <= {"HLS", "system"}


def test_group_identity_of_anolis_is_set_on_classes_and_never_on_the_root() -> None:
    tasks = plan(V2, feature("cpu_bvt", True))
    assert "cpu_bvt_warp_ns" not in settings(tasks, "guaranteed")
    assert settings(tasks, "burstable")["cpu_bvt_warp_ns"] == 1
    assert settings(tasks, "besteffort")["cpu_bvt_warp_ns"] == -1


def test_settings_of_disabled_group_identity_are_restored() -> None:
    tasks = plan(V2, feature("cpu_bvt", True), sysctl("/proc/sys/kernel/sched_group_identity_enabled", "0"))
    assert settings(tasks, "besteffort")["cpu_bvt_warp_ns"] is None
    assert "sched_group_identity_enabled is 0" in reason(tasks, "BE", "cpu.qos_level -1")


def test_levels_that_cannot_be_restored_are_not_set_on_classes() -> None:
    # openEuler kernel/sched/core.c: from -1 to 0 is refused.
    assert "cpu_qos_level" not in settings(plan(OPENEULER), "besteffort")


def test_unknown_features_are_decided_on_the_node() -> None:
    assert settings(plan("trixie-v2-aligned"), "besteffort")["memory_high"] == "80%"


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        (V2, [("cgroup", "trees", [])], "kubelet has not created its cgroups under the driver systemd"),
        # The remaining tree of the other driver does not count.
        (V2, [("cgroup", "trees", ["/sys/fs/cgroup/kubepods"])], "kubelet has not created its cgroups"),
        (V2, [setting("cgroupRoot", "/pods")], "kubelet has not created its cgroups"),
        (V2, [("kubelet", "cgroup_driver", None)], "cgroup driver is not known"),
    ],
)
def test_without_kubelets_cgroups_there_is_nothing_to_set(name: str, changes: list[Change], says: str) -> None:
    tasks = plan(name, *changes)
    assert tasks.cgroups == ()
    assert says in reason(tasks, "pods", "all settings")


def test_a_cgroup_root_of_kubelets_keeps_the_settings_of_classes() -> None:
    trees = ["/sys/fs/cgroup/a.slice/a-b.slice/a-b-kubepods.slice"]
    tasks = plan(V2, setting("cgroupRoot", "/a/b"), ("cgroup", "trees", trees))
    assert settings(tasks, "burstable") == PROTECTED
    assert tasks.kubelet["cgroup_root"] == "/a/b"
