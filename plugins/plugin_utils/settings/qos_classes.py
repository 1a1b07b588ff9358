# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of kubelet's QoS classes: besteffort is throttled, and the memory of the other classes is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ...module_utils.cgroup.kubelet_names import QosClass
from .node_support import CgroupTask, QosNode, Unsupported, kubelet_owned_reason, split_supported, unsupported_reason
from .pod_levels import KernelScheduler
from .qos_profile import LEVEL_NUMBERS, Amount, BestEffort, LatencySensitive, QosLevel, QosProfile
from .reserved_slices import ReservedAmounts

LEAST_CPUS = Fraction(1, 100)
"""systemd stores a quota in hundredths of a CPU, and the kernel accepts at least 1 ms in 100 ms."""

ClassTasks = tuple[tuple[CgroupTask, ...], tuple[Unsupported, ...]]


def pods_cpus(node: QosNode, reserved: Sequence[ReservedAmounts]) -> Fraction | None:
    """The CPUs that are not reserved; None if the online CPUs are unknown or all are reserved."""
    cpus = len(node.online_cpus) - sum((amounts.cpu for amounts in reserved), Fraction(0))
    return cpus if node.online_cpus and cpus > 0 else None


def quota_in_cpus(quota: Amount | None, cpus: Fraction | None) -> float | None:
    """The quota in CPUs, in steps of a hundredth; None without a quota."""
    if quota is None:
        return None
    hundredths = quota.of(cpus or Fraction(0)) // LEAST_CPUS
    return max(1, hundredths) / 100


def _quota_problem(node: QosNode, quota: Amount | None, cpus: Fraction | None) -> str:
    if quota is None:
        return ""
    if quota.share is not None and cpus is None:
        return "the number of CPUs for pods is unknown: the share is of the online CPUs that are not reserved"
    online = len(node.online_cpus)
    return f"{quota.text} CPUs limit nothing on a node with {online}" if online and quota.absolute > online else ""


def _amount_text(amount: Amount | None) -> str | None:
    return amount.text if amount else None


def class_tasks(node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: KernelScheduler) -> ClassTasks:
    """The three classes in the order of their protection: a parent's memory must be protected before its child's."""
    parts = (*_protected_classes(node, profile, kind), _besteffort_class(node, profile, cpus, kind))
    tasks = tuple(task for task, _unsupported in parts if task.settings)
    return tasks, tuple(entry for _task, unsupported in parts for entry in unsupported)


def _identity_settings(node: QosNode, level: QosLevel, profile: QosProfile, kind: KernelScheduler) -> Mapping[str, Any]:
    # Not on the root, where it must stay 0 (koordinator pkg/koordlet/runtimehooks/hooks/groupidentity).
    if not node.features.get("cpu_bvt"):
        return {}
    on = kind is KernelScheduler.IDENTITY and level in profile.levels
    return {"cpu_bvt_warp_ns": LEVEL_NUMBERS[level].cpu if on else None}


def _class_obstacle(node: QosNode, qos: QosClass, knob: str) -> str:
    return unsupported_reason(node, knob) or kubelet_owned_reason(node, qos, knob)


def _besteffort_class(
    node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: KernelScheduler
) -> tuple[CgroupTask, tuple[Unsupported, ...]]:
    target = profile.best_effort if QosLevel.BE in profile.levels else BestEffort()

    def why_not(knob: str) -> str:
        unknown = _quota_problem(node, target.cpu_quota, cpus) if knob == "cpu_quota" else ""
        return unknown or _class_obstacle(node, QosClass.BESTEFFORT, knob)

    values = {
        "cpu_quota": quota_in_cpus(target.cpu_quota, cpus),
        "memory_high": _amount_text(target.memory_high),
        "memory_max": _amount_text(target.memory_max),
        "pids_max": target.pids_max,
        **_identity_settings(node, QosLevel.BE, profile, kind),
    }
    settings, unsupported = split_supported(QosLevel.BE.value, values, why_not)
    return CgroupTask({"qos_class": QosClass.BESTEFFORT.value}, settings), unsupported


def _protected_classes(
    node: QosNode, profile: QosProfile, kind: KernelScheduler
) -> Iterator[tuple[CgroupTask, tuple[Unsupported, ...]]]:
    """burstable, and the root above it: the protection of the class needs that of the root (cgroup-v2.rst)."""
    target = profile.latency_sensitive if QosLevel.LS in profile.levels else LatencySensitive()
    memory = {"memory_low": _amount_text(target.memory_low), "memory_min": _amount_text(target.memory_min)}
    values = {
        QosClass.GUARANTEED: memory,
        QosClass.BURSTABLE: {**memory, **_identity_settings(node, QosLevel.LS, profile, kind)},
    }
    for qos, desired in values.items():
        settings, unsupported = split_supported(QosLevel.LS.value, desired, partial(_class_obstacle, node, qos))
        # A reason against the class also applies to the root above it, and is reported once.
        yield CgroupTask({"qos_class": qos.value}, settings), unsupported if qos is QosClass.BURSTABLE else ()
