# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of kubelet's QoS classes: besteffort is throttled, and the memory of the others is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ...module_utils.cgroup.kubelet_names import QosClass
from .capability import kubelets, obstacle, split
from .kernel_levels import Scheduler
from .levels import NUMBERS, Level
from .model import Cannot, CgroupTask
from .node import QosNode
from .profile import Amount, BestEffort, LatencySensitive, QosProfile
from .reservations import Amounts

LEAST_CPUS = Fraction(1, 100)
"""systemd keeps a quota in hundredths of a CPU, and the kernel takes no less than 1 ms in 100 ms."""

Classes = tuple[tuple[CgroupTask, ...], tuple[Cannot, ...]]


def pods_cpus(node: QosNode, reserved: Sequence[Amounts]) -> Fraction | None:
    """The CPUs that are left for pods; None when the online ones are not known, or none is left."""
    left = len(node.online_cpus) - sum((each.cpu for each in reserved), Fraction(0))
    return left if node.online_cpus and left > 0 else None


def quota(wanted: Amount | None, cpus: Fraction | None) -> float | None:
    """CPUs, in hundredths; None where none are wanted."""
    if wanted is None:
        return None
    hundredths = wanted.of(cpus or Fraction(0)) // LEAST_CPUS
    return max(1, hundredths) / 100


def _no_quota(node: QosNode, wanted: Amount | None, cpus: Fraction | None) -> str:
    if wanted is None:
        return ""
    if wanted.share is not None and cpus is None:
        return "how many CPUs are left for pods is not known: it is a share of the online ones that are not reserved"
    online = len(node.online_cpus)
    return f"{wanted.text} CPUs are no cap on a node of {online}" if online and wanted.absolute > online else ""


def _text(wanted: Amount | None) -> str | None:
    return wanted.text if wanted else None


def class_tasks(node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: Scheduler) -> Classes:
    """The three classes in the order of their protection: a parent's memory has to be protected before its child's."""
    parts = (*_protected(node, profile, kind), _besteffort(node, profile, cpus, kind))
    tasks = tuple(task for task, _cannot in parts if task.settings)
    return tasks, tuple(each for _task, cannot in parts for each in cannot)


def _identity(node: QosNode, level: Level, profile: QosProfile, kind: Scheduler) -> Mapping[str, Any]:
    # Not on the root: it must stay 0 (koordinator pkg/koordlet/runtimehooks/hooks/groupidentity).
    if not node.features.get("cpu_bvt"):
        return {}
    on = kind is Scheduler.IDENTITY and level in profile.levels
    return {"cpu_bvt_warp_ns": NUMBERS[level].cpu if on else None}


def _class_obstacle(node: QosNode, qos: QosClass, knob: str) -> str:
    return obstacle(node, knob) or kubelets(node, qos, knob)


def _besteffort(
    node: QosNode, profile: QosProfile, cpus: Fraction | None, kind: Scheduler
) -> tuple[CgroupTask, tuple[Cannot, ...]]:
    wanted = profile.best_effort if Level.BE in profile.levels else BestEffort()

    def why_not(knob: str) -> str:
        unknown = _no_quota(node, wanted.cpu_quota, cpus) if knob == "cpu_quota" else ""
        return unknown or _class_obstacle(node, QosClass.BESTEFFORT, knob)

    values = {
        "cpu_quota": quota(wanted.cpu_quota, cpus),
        "memory_high": _text(wanted.memory_high),
        "memory_max": _text(wanted.memory_max),
        "pids_max": wanted.pids_max,
        **_identity(node, Level.BE, profile, kind),
    }
    settings, cannot = split(Level.BE.value, values, why_not)
    return CgroupTask({"qos_class": QosClass.BESTEFFORT.value}, settings), cannot


def _protected(node: QosNode, profile: QosProfile, kind: Scheduler) -> Iterator[tuple[CgroupTask, tuple[Cannot, ...]]]:
    """burstable, and the root above it, without whose protection that of the class is void (cgroup-v2.rst)."""
    wanted = profile.latency_sensitive if Level.LS in profile.levels else LatencySensitive()
    memory = {"memory_low": _text(wanted.memory_low), "memory_min": _text(wanted.memory_min)}
    values = {
        QosClass.GUARANTEED: memory,
        QosClass.BURSTABLE: {**memory, **_identity(node, Level.LS, profile, kind)},
    }
    for qos, each in values.items():
        settings, cannot = split(Level.LS.value, each, partial(_class_obstacle, node, qos))
        # What holds for the class holds for the root above it, and is said once.
        yield CgroupTask({"qos_class": qos.value}, settings), cannot if qos is QosClass.BURSTABLE else ()
