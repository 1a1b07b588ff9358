# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Volcano agent's levels in the words of the node's kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from .capability import obstacle
from .levels import NUMBERS, Level
from .model import Cannot, Settings
from .node import QosNode

MEMCG_QOS = "/proc/sys/vm/memcg_qos_enable"
GROUP_IDENTITY = "/proc/sys/kernel/sched_group_identity_enabled"
CORE_SCHEDULING = "/proc/sys/kernel/sched_core"
HUAWEI = ".hce"
"""In the release of Huawei Cloud EulerOS, whose kernels have several levels."""


class Scheduler(str, Enum):
    """What a kernel knows of priorities among cgroups."""

    MAINLINE = "mainline"
    TWO_LEVELS = "openEuler, two levels"
    MULTI_LEVELS = "openEuler, several levels"
    IDENTITY = "Anolis, group identity"


def scheduler(node: QosNode, kernel_levels: str) -> Scheduler:
    """What the kernel's files show. ``auto`` takes two levels, which every openEuler kernel knows."""
    if node.features.get("cpu_qos_level") and not obstacle(node, "cpu_qos_level"):
        several = kernel_levels == "multi" or (kernel_levels == "auto" and HUAWEI in (node.release or ""))
        return Scheduler.MULTI_LEVELS if several else Scheduler.TWO_LEVELS
    if node.features.get("cpu_bvt") and not identity_off(node):
        return Scheduler.IDENTITY
    return Scheduler.MAINLINE


def identity_off(node: QosNode) -> str:
    """Why group identity, which the kernel has, has no effect; empty where it has one.

    Source: koordinator pkg/koordlet/runtimehooks/hooks/groupidentity; Alibaba Cloud Linux, Group identity feature.
    """
    if node.sysctls.get(GROUP_IDENTITY) == "0":
        return "kernel.sched_group_identity_enabled is 0: write it as 1 in /etc/sysctl.d"
    if node.sysctls.get(CORE_SCHEDULING) == "1":
        return "kernel.sched_core is 1, and core scheduling excludes group identity"
    return ""


def _mainline(level: Level) -> Settings:
    return {"cpu_idle": True} if level is Level.BE else {}


def _two_levels(level: Level) -> Settings:
    return {"cpu_qos_level": min(0, NUMBERS[level].cpu)}


def _multi_levels(level: Level) -> Settings:
    return {"cpu_qos_level": NUMBERS[level].cpu}


def _identity(level: Level) -> Settings:
    return {"cpu_bvt_warp_ns": NUMBERS[level].cpu}


CPU: Mapping[Scheduler, Callable[[Level], Settings]] = {
    Scheduler.MAINLINE: _mainline,
    Scheduler.TWO_LEVELS: _two_levels,
    Scheduler.MULTI_LEVELS: _multi_levels,
    Scheduler.IDENTITY: _identity,
}


def pod_settings(node: QosNode, level: Level, kind: Scheduler) -> Settings:
    """What a pod of a level is given by its own cgroup."""
    memory = {} if memory_reason(node) else {"memory_qos_level": NUMBERS[level].memory}
    return {**CPU[kind](level), **memory}


def memory_reason(node: QosNode) -> str:
    """Why memory.qos_level is of no use; empty where it is."""
    if node.features.get("memory_qos_level") is None:
        return "nothing shows whether this kernel has memory.qos_level"
    if not node.features["memory_qos_level"]:
        return f"this kernel ({node.release}) has no memory.qos_level, which openEuler's have on cgroup v1"
    if obstacle(node, "memory_qos_level"):
        return obstacle(node, "memory_qos_level")
    if node.sysctls.get(MEMCG_QOS) == "0":
        return "vm.memcg_qos_enable is 0, so that the kernel takes no notice: write it as 1 in /etc/sysctl.d"
    return ""


def _no_levels(node: QosNode) -> str:
    if node.features.get("cpu_qos_level"):
        return f"cpu.qos_level is there, but {obstacle(node, 'cpu_qos_level')}"
    if node.features.get("cpu_bvt"):
        return identity_off(node)
    if None in (node.features.get("cpu_qos_level"), node.features.get("cpu_bvt")):
        return "nothing shows whether this kernel has cpu.qos_level or cpu.bvt_warp_ns"
    return f"this kernel ({node.release}) has no cpu.qos_level and no cpu.bvt_warp_ns"


LOST_ON_MAINLINE: Mapping[Level, str] = {
    Level.LC: "nothing runs before the others: its share is its CPU request, and it is pinned only if it is Guaranteed"
    " with whole CPUs",
    Level.HLS: "nothing keeps the sibling threads of its CPUs free; what is its own are the CPUs that kubelet pins",
    Level.LS: "its share is its CPU request",
    Level.BE: "cpu.idle of the pod and kubelet's smallest weight take its place",
}


def untranslated(node: QosNode, level: Level, kind: Scheduler) -> Iterator[Cannot]:
    """What of a level's two numbers this kernel does not know."""
    cpu, memory = NUMBERS[level].cpu, NUMBERS[level].memory
    if kind is Scheduler.MAINLINE:
        yield Cannot(level.value, f"cpu.qos_level {cpu}", f"{_no_levels(node)}; {LOST_ON_MAINLINE[level]}")
    elif kind is Scheduler.TWO_LEVELS and cpu > 0:
        yield Cannot(
            level.value,
            f"cpu.qos_level {cpu}",
            "0 and -1 are the levels that every openEuler kernel takes, so it is 0; where CONFIG_QOS_SCHED_MULTILEVEL"
            " is on, say kernel_levels: multi, and elsewhere the agent's own write of it fails",
        )
    if memory < 0 and memory_reason(node):
        yield Cannot(level.value, f"memory.qos_level {memory}", memory_reason(node))
