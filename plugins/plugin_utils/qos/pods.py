# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods get of their own: those of the profile's list here, all others of the agent or of an NRI plugin."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.cgroup.kubelet_names import QosClass
from .capability import obstacle, split
from .kernel_levels import Scheduler, pod_settings, untranslated
from .levels import Level
from .model import Cannot, CgroupTask, Settings
from .node import QosNode
from .profile import Pod, QosProfile

OF_PODS = (
    "it is set on pods only, because kubelet would not start again if its class had it: list pods in pods, or say"
    " be.cpu_idle: true for each BestEffort pod that is there"
)
BURST_OF_CONTAINERS = (
    "a class has no quota to exceed, and of a pod's containers each has its own: annotate the pod with"
    " volcano.sh/enable-quota-burst and let the Volcano agent write it"
)


def level_settings(node: QosNode, profile: QosProfile, level: Level, kind: Scheduler) -> Settings:
    """What a pod of a level can be given on this node."""
    burst = profile.latency_sensitive.cpu_burst if level is Level.LS else None
    own = {**pod_settings(node, level, kind), **({} if burst is None else {"cpu_burst": burst})}
    return split(level.value, own, lambda knob: obstacle(node, knob))[0]


def idle_pods(node: QosNode, profile: QosProfile, kind: Scheduler) -> Iterator[CgroupTask]:
    """Every BestEffort pod that is on the node, where that is wanted."""
    if profile.best_effort.cpu_idle and Level.BE in profile.levels:
        settings = level_settings(node, profile, Level.BE, kind)
        yield CgroupTask({"qos_class": QosClass.BESTEFFORT.value, "level": "pods"}, settings)


def pod_task(node: QosNode, profile: QosProfile, pod: Pod, kind: Scheduler) -> CgroupTask:
    return CgroupTask({"pod": dict(pod.identity)}, level_settings(node, profile, pod.level, kind))


def pods_lack(node: QosNode, profile: QosProfile, level: Level, kind: Scheduler) -> Iterator[Cannot]:
    """What pods of a level do not get, and what only some of them do."""
    yield from untranslated(node, level, kind)
    if level is Level.BE and "cpu_idle" in pod_settings(node, level, kind):
        reason = obstacle(node, "cpu_idle") or ("" if profile.best_effort.cpu_idle else OF_PODS)
        if reason:
            yield Cannot(level.value, "cpu_idle", reason)
    if level is Level.LS:
        reason = obstacle(node, "cpu_burst") or BURST_OF_CONTAINERS
        yield Cannot(level.value, "cpu_burst", reason)
