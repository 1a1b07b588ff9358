# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of kubelet's QoS classes: besteffort is throttled, and the memory of the others is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ...module_utils.cgroup.kubelet_names import QosClass
from .kubelet_reservations import ReservedAmounts
from .node_support import CgroupTask, QosNode, Unsupported, kubelet_owned_reason, split_supported, unsupported_reason
from .pod_levels import KernelScheduler
from .qos_profile import LEVEL_NUMBERS, Amount, BestEffort, LatencySensitive, QosLevel, QosProfile

LEAST_CPUS = Fraction(1, 100)
"""systemd keeps a quota in hundredths of a CPU, and the kernel takes no less than 1 ms in 100 ms."""

ClassTasks = tuple[tuple[CgroupTask, ...], tuple[Unsupported, ...]]


def pods_cpus(node: QosNode, reserved: Sequence[ReservedAmounts]) -> Fraction | None:
    """The CPUs that are left for pods; None when the online ones are not known, or none is left."""
    left = len(node.online_cpus) - sum((each.cpu for each in reserved), Fraction(0))
    return left if node.online_cpus and left > 0 else None


def quota_in_cpus(wanted: Amount | None, cpus: Fraction | None) -> float | None:
    """CPUs, in hundredths; None where none are wanted."""
    if wanted is None:
        return None
    hundredths = wanted.of(cpus or Fraction(0)) // LEAST_CPUS
    return max(1, hundredths) / 100


def _quota_problem(node: QosNode, wanted: Amount | None, cpus: Fraction | None) -> str:
    if wanted is None:
        return ""
    if wanted.share is not None and cpus is None:
        return "how many CPUs are left for pods is not known: it is a share of the online ones that are not reserved"
    online = len(node.online_cpus)
    return f"{wanted.text} CPUs are no cap on a node of {online}" if online and wanted.absolute > online else ""


def _amount_text(wanted: Amount | None) -> str | None:
    return wanted.text if wanted else None


def class_tasks(node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: KernelScheduler) -> ClassTasks:
    """The three classes in the order of their protection: a parent's memory has to be protected before its child's."""
    parts = (*_protected_classes(node, profile, kind), _besteffort_class(node, profile, cpus, kind))
    tasks = tuple(task for task, _cannot in parts if task.settings)
    return tasks, tuple(each for _task, cannot in parts for each in cannot)


def _identity_settings(node: QosNode, level: QosLevel, profile: QosProfile, kind: KernelScheduler) -> Mapping[str, Any]:
    # Not on the root: it must stay 0 (koordinator pkg/koordlet/runtimehooks/hooks/groupidentity).
    if not node.features.get("cpu_bvt"):
        return {}
    on = kind is KernelScheduler.IDENTITY and level in profile.levels
    return {"cpu_bvt_warp_ns": LEVEL_NUMBERS[level].cpu if on else None}


def _class_obstacle(node: QosNode, qos: QosClass, knob: str) -> str:
    return unsupported_reason(node, knob) or kubelet_owned_reason(node, qos, knob)


def _besteffort_class(
    node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: KernelScheduler
) -> tuple[CgroupTask, tuple[Unsupported, ...]]:
    wanted = profile.best_effort if QosLevel.BE in profile.levels else BestEffort()

    def why_not(knob: str) -> str:
        unknown = _quota_problem(node, wanted.cpu_quota, cpus) if knob == "cpu_quota" else ""
        return unknown or _class_obstacle(node, QosClass.BESTEFFORT, knob)

    values = {
        "cpu_quota": quota_in_cpus(wanted.cpu_quota, cpus),
        "memory_high": _amount_text(wanted.memory_high),
        "memory_max": _amount_text(wanted.memory_max),
        "pids_max": wanted.pids_max,
        **_identity_settings(node, QosLevel.BE, profile, kind),
    }
    settings, cannot = split_supported(QosLevel.BE.value, values, why_not)
    return CgroupTask({"qos_class": QosClass.BESTEFFORT.value}, settings), cannot


def _protected_classes(
    node: QosNode, profile: QosProfile, kind: KernelScheduler
) -> Iterator[tuple[CgroupTask, tuple[Unsupported, ...]]]:
    """burstable, and the root above it, without whose protection that of the class is void (cgroup-v2.rst)."""
    wanted = profile.latency_sensitive if QosLevel.LS in profile.levels else LatencySensitive()
    memory = {"memory_low": _amount_text(wanted.memory_low), "memory_min": _amount_text(wanted.memory_min)}
    values = {
        QosClass.GUARANTEED: memory,
        QosClass.BURSTABLE: {**memory, **_identity_settings(node, QosLevel.LS, profile, kind)},
    }
    for qos, each in values.items():
        settings, cannot = split_supported(QosLevel.LS.value, each, partial(_class_obstacle, node, qos))
        # What holds for the class holds for the root above it, and is said once.
        yield CgroupTask({"qos_class": qos.value}, settings), cannot if qos is QosClass.BURSTABLE else ()
