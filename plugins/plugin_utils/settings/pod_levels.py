# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of pods of each level on a node: the levels in terms of its kernel, and the CPUs that kubelet pins.

Pods in the profile's list get them from this collection, all others from the agent or an NRI plugin. Pinning is only
checked: kubelet gives a Guaranteed pod with whole CPUs exclusive ones (pkg/kubelet/cm/cpumanager, policy_static.go and
cpu_manager.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from ...module_utils.cgroup.kubelet_names import QosClass
from ..facts.node_allocatable import cpu_reservation
from ..profile.kubelet_fields import CPU_MANAGER_OPTIONS
from ..releases.kubelet_features import parse_bool
from .node_support import (
    CgroupTask,
    KnobValues,
    KubeletSettings,
    QosNode,
    Unsupported,
    split_supported,
    unsupported_reason,
)
from .qos_profile import LEVEL_NUMBERS, PodLevel, QosLevel, QosProfile

MEMCG_QOS = "/proc/sys/vm/memcg_qos_enable"
GROUP_IDENTITY = "/proc/sys/kernel/sched_group_identity_enabled"
CORE_SCHEDULING = "/proc/sys/kernel/sched_core"
HUAWEI_RELEASE = ".hce"
"""Part of the release of Huawei Cloud EulerOS kernels, which have several levels."""


class KernelScheduler(str, Enum):
    """How a kernel supports priorities among cgroups."""

    MAINLINE = "mainline"
    TWO_LEVELS = "openEuler, two levels"
    MULTI_LEVELS = "openEuler, several levels"
    IDENTITY = "Anolis, group identity"


def detect_scheduler(node: QosNode, kernel_levels: str) -> KernelScheduler:
    """The scheduler by the kernel's files. ``auto`` uses two levels, which every openEuler kernel supports."""
    if node.features.get("cpu_qos_level") and not unsupported_reason(node, "cpu_qos_level"):
        several = kernel_levels == "multi" or (kernel_levels == "auto" and HUAWEI_RELEASE in (node.release or ""))
        return KernelScheduler.MULTI_LEVELS if several else KernelScheduler.TWO_LEVELS
    if node.features.get("cpu_bvt") and not identity_disabled_reason(node):
        return KernelScheduler.IDENTITY
    return KernelScheduler.MAINLINE


def identity_disabled_reason(node: QosNode) -> str:
    """Why group identity has no effect although the kernel has it; empty if it has one.

    Source: koordinator pkg/koordlet/runtimehooks/hooks/groupidentity; Alibaba Cloud Linux, Group identity feature.
    """
    if node.sysctls.get(GROUP_IDENTITY) == "0":
        return "kernel.sched_group_identity_enabled is 0: set it to 1 in /etc/sysctl.d"
    if node.sysctls.get(CORE_SCHEDULING) == "1":
        return "kernel.sched_core is 1, and core scheduling excludes group identity"
    return ""


def _mainline(level: QosLevel) -> KnobValues:
    return {"cpu_idle": True} if level is QosLevel.BE else {}


def _two_levels(level: QosLevel) -> KnobValues:
    return {"cpu_qos_level": min(0, LEVEL_NUMBERS[level].cpu)}


def _multi_levels(level: QosLevel) -> KnobValues:
    return {"cpu_qos_level": LEVEL_NUMBERS[level].cpu}


def _group_identity(level: QosLevel) -> KnobValues:
    return {"cpu_bvt_warp_ns": LEVEL_NUMBERS[level].cpu}


CPU_SETTINGS: Mapping[KernelScheduler, Callable[[QosLevel], KnobValues]] = {
    KernelScheduler.MAINLINE: _mainline,
    KernelScheduler.TWO_LEVELS: _two_levels,
    KernelScheduler.MULTI_LEVELS: _multi_levels,
    KernelScheduler.IDENTITY: _group_identity,
}


def pod_settings(node: QosNode, level: QosLevel, kind: KernelScheduler) -> KnobValues:
    """The settings of a pod of a level, in the pod's own cgroup."""
    memory = {} if memory_reason(node) else {"memory_qos_level": LEVEL_NUMBERS[level].memory}
    return {**CPU_SETTINGS[kind](level), **memory}


def memory_reason(node: QosNode) -> str:
    """Why memory.qos_level cannot be used; empty if it can."""
    if node.features.get("memory_qos_level") is None:
        return "it is unknown whether this kernel has memory.qos_level"
    if not node.features["memory_qos_level"]:
        return f"this kernel ({node.release}) has no memory.qos_level, which openEuler kernels have on cgroup v1"
    if unsupported_reason(node, "memory_qos_level"):
        return unsupported_reason(node, "memory_qos_level")
    if node.sysctls.get(MEMCG_QOS) == "0":
        return "vm.memcg_qos_enable is 0, so the kernel ignores it: set the sysctl to 1 in /etc/sysctl.d"
    return ""


def _no_levels(node: QosNode) -> str:
    if node.features.get("cpu_qos_level"):
        return f"the kernel has cpu.qos_level, but {unsupported_reason(node, 'cpu_qos_level')}"
    if node.features.get("cpu_bvt"):
        return identity_disabled_reason(node)
    if None in (node.features.get("cpu_qos_level"), node.features.get("cpu_bvt")):
        return "it is unknown whether this kernel has cpu.qos_level or cpu.bvt_warp_ns"
    return f"this kernel ({node.release}) has no cpu.qos_level and no cpu.bvt_warp_ns"


LOST_ON_MAINLINE: Mapping[QosLevel, str] = {
    QosLevel.LC: "the pod does not run before others: its share is its CPU request, and it is pinned only if it is"
    " Guaranteed with whole CPUs",
    QosLevel.HLS: "the sibling threads of its CPUs are not kept free; only the CPUs that kubelet pins are exclusive",
    QosLevel.LS: "its share is its CPU request",
    QosLevel.BE: "cpu.idle of the pod and kubelet's smallest weight replace it",
}


def unsupported_levels(node: QosNode, level: QosLevel, kind: KernelScheduler) -> Iterator[Unsupported]:
    """The numbers of a level that this kernel does not support."""
    cpu, memory = LEVEL_NUMBERS[level].cpu, LEVEL_NUMBERS[level].memory
    if kind is KernelScheduler.MAINLINE:
        yield Unsupported(level.value, f"cpu.qos_level {cpu}", f"{_no_levels(node)}; {LOST_ON_MAINLINE[level]}")
    elif kind is KernelScheduler.TWO_LEVELS and cpu > 0:
        yield Unsupported(
            level.value,
            f"cpu.qos_level {cpu}",
            "0 and -1 are the levels that every openEuler kernel accepts, so it is 0; if the kernel has"
            " CONFIG_QOS_SCHED_MULTILEVEL, set kernel_levels: multi; on others the agent's own write of it fails",
        )
    if memory < 0 and memory_reason(node):
        yield Unsupported(level.value, f"memory.qos_level {memory}", memory_reason(node))


PODS_ONLY_REASON = (
    "it is set on pods only, because kubelet would not start again if its class had it: list pods in pods, or set"
    " colocation_qos.be.cpu_idle: true for all current BestEffort pods"
)
CONTAINER_BURST_REASON = (
    "a class has no quota to exceed, and each container of a pod has its own quota: annotate the pod with"
    " volcano.sh/enable-quota-burst, and the Volcano agent writes it"
)


def level_settings(node: QosNode, profile: QosProfile, level: QosLevel, kind: KernelScheduler) -> KnobValues:
    """The settings that a pod of a level can have on this node."""
    burst = profile.latency_sensitive.cpu_burst if level is QosLevel.LS else None
    own = {**pod_settings(node, level, kind), **({} if burst is None else {"cpu_burst": burst})}
    return split_supported(level.value, own, lambda knob: unsupported_reason(node, knob))[0]


def idle_pods(node: QosNode, profile: QosProfile, kind: KernelScheduler) -> Iterator[CgroupTask]:
    """A task for all BestEffort pods on the node, if the profile makes them idle."""
    if profile.best_effort.cpu_idle and QosLevel.BE in profile.levels:
        settings = level_settings(node, profile, QosLevel.BE, kind)
        yield CgroupTask({"qos_class": QosClass.BESTEFFORT.value, "level": "pods"}, settings)


def pod_task(node: QosNode, profile: QosProfile, pod: PodLevel, kind: KernelScheduler) -> CgroupTask:
    return CgroupTask({"pod": dict(pod.identity)}, level_settings(node, profile, pod.level, kind))


def unsupported_for_pods(
    node: QosNode, profile: QosProfile, level: QosLevel, kind: KernelScheduler
) -> Iterator[Unsupported]:
    """Settings that pods of a level, or some of them, do not get."""
    yield from unsupported_levels(node, level, kind)
    if level is QosLevel.BE and "cpu_idle" in pod_settings(node, level, kind):
        reason = unsupported_reason(node, "cpu_idle") or ("" if profile.best_effort.cpu_idle else PODS_ONLY_REASON)
        if reason:
            yield Unsupported(level.value, "cpu_idle", reason)
    if level is QosLevel.LS:
        reason = unsupported_reason(node, "cpu_burst") or CONTAINER_BURST_REASON
        yield Unsupported(level.value, "cpu_burst", reason)


NO_QUOTA_SINCE = (1, 33)
"""DisableCPUQuotaWithExclusiveCPUs is on by default from this release on (pkg/features/kube_features.go)."""


def _unsupported_hls(setting: str, reason: str) -> Unsupported:
    return Unsupported(QosLevel.HLS.value, setting, reason)


def _has_full_cores(kubelet: KubeletSettings) -> bool:
    options = kubelet.value(CPU_MANAGER_OPTIONS.key)
    return isinstance(options, dict) and parse_bool(options.get("full-pcpus-only")) is True


def pinning_obstacles(node: QosNode) -> Iterator[Unsupported]:
    """What prevents pinned CPUs, and what pinned CPUs lack."""
    kubelet = node.kubelet
    if kubelet.cpu_manager_policy != "static":
        policy = kubelet.cpu_manager_policy or "not known"
        yield _unsupported_hls(
            "pinned CPUs", f"kubelet's cpuManagerPolicy is {policy}: set colocation_cpu_manager_policy: static"
        )
        return
    if not cpu_reservation(kubelet.settings).count:
        yield _unsupported_hls(
            "pinned CPUs", "no CPU is reserved, and kubelet does not start with the static policy without one"
        )
    if kubelet.checkpoint_policy not in ("static", None):
        yield _unsupported_hls("pinned CPUs", f"kubelet's checkpoint still has the policy {kubelet.checkpoint_policy}")
    if node.smt and not _has_full_cores(kubelet):
        yield _unsupported_hls(
            "whole cores",
            "SMT is on, and without full-pcpus-only in colocation_cpu_manager_policy_options another pod may get the"
            " sibling thread",
        )
    if kubelet.version is not None and kubelet.version < NO_QUOTA_SINCE:
        version = ".".join(map(str, kubelet.version))
        yield _unsupported_hls(
            "no CPU quota", f"kubelet {version} keeps the quota of pinned containers; 1.33 and newer remove it"
        )
