# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of knobs that kubelet writes itself: on which cgroup, when, and what to set instead.

Source, unless another is named: kubernetes pkg/kubelet/cm/qos_container_manager_linux.go (every minute, by
periodicQOSCgroupUpdateInterval) and node_container_manager_linux.go (at its start).

kubelet writes a pod's cgroup only when it creates or resizes the pod. A setting of a pod therefore stays, and must be
applied again to the next pod. kubelet never writes memory.high, cpu.max, bursts or io of a QoS class.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Callable, Mapping, Tuple

from ..cgroup.container_paths import KubeletCgroup
from ..cgroup.kubelet_names import QosClass
from ..errors import ColocationError
from ..host import Host
from .knob import Knob

CHECKPOINT = "cpu_manager_state"


def parse_version(text: str | None) -> tuple[int, int] | None:
    """Major and minor of a version such as ``1.31`` or ``v1.31.4``; None for None."""
    if text is None:
        return None
    match = re.match(r"v?(\d+)\.(\d+)", text)
    if match is None:
        raise ColocationError(f"kubelet_version: {text!r} is not a version", "Write it like 1.31")
    return int(match.group(1)), int(match.group(2))


def has_static_cpu_policy(host: Host, kubelet_root: str) -> bool | None:
    """Whether kubelet has the static CPU manager, from the checkpoint that it writes at each start; None if unknown.

    Source: kubernetes pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    try:
        policy = json.loads(host.read(f"{kubelet_root.rstrip('/')}/{CHECKPOINT}"))["policyName"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return bool(policy == "static")


class CgroupLevel(str, Enum):
    """The level of a cgroup in kubelet's tree; OTHER for all other cgroups."""

    ROOT = "root"
    QOS_CLASS = "qos class"
    POD = "pod"
    CONTAINER = "container"
    OTHER = "other"


def cgroup_level(cgroup: KubeletCgroup) -> CgroupLevel:
    """The level of a cgroup in kubelet's tree; every cgroup below a pod's counts as a container."""
    if cgroup.pod_uid:
        return CgroupLevel.CONTAINER if cgroup.container_id or cgroup.below else CgroupLevel.POD
    if cgroup.below:
        return CgroupLevel.OTHER
    return CgroupLevel.ROOT if cgroup.qos is QosClass.GUARANTEED else CgroupLevel.QOS_CLASS


Version = Tuple[int, int]

MEMORY_QOS_BY_DEFAULT: Version = (1, 37)
"""pkg/features/kube_features.go MemoryQoS. From this version on kubelet resets memory protections at its start, with
the gate on or off, unless memoryReservationPolicy is TieredReservation (kubernetes#138903)."""

OWN_SLICE = "Set it on your own slice beside kubepods, or on single pods"


@dataclass(frozen=True)
class _Case:
    """The input of the rules; ``qos`` is "" at the root, which is also the cgroup of the guaranteed class."""

    knob: str
    qos: str
    driver: str
    version: Version | None
    static_cpu: bool
    memory_qos: bool | None


def refusal(
    knob: Knob,
    level: CgroupLevel,
    qos: str | None,
    driver: str,
    version: Version | None,
    *,
    static_cpu: bool,
    memory_qos: bool | None,
) -> str:
    """The reason why the collection does not set the knob on that cgroup: who writes it, when, and the alternative.

    Empty if the knob may be set. ``qos`` is a QosClass, ``driver`` kubelet's Driver, ``version`` kubelet's version;
    ``memory_qos`` is None if the feature gate is not set. A knob is refused where the decision needs an unknown fact.
    """
    if level is CgroupLevel.OTHER:
        return ""
    if knob.name in ("cpuset_cpus", "cpuset_mems", "cpuset_partition") and static_cpu:
        return _CPUSET
    if level not in (CgroupLevel.ROOT, CgroupLevel.QOS_CLASS):
        return ""
    at_root = level is CgroupLevel.ROOT or qos in (None, "guaranteed")
    case = _Case(knob.name, "" if at_root else str(getattr(qos, "value", qos)), driver, version, static_cpu, memory_qos)
    rule = _RULES.get("hugetlb" if knob.name.startswith("hugetlb_") else knob.name)
    return rule(case) if rule else ""


_CPUSET = (
    "under the static CPU manager kubelet assigns CPUs to containers and restores them every 10 seconds "
    "(pkg/kubelet/cm/cpumanager reconcileState); a cpuset on or above them removes the exclusive CPUs of other "
    "containers, and containers fail to start. Limit CPU time with cpu_quota instead, or set cpuset_cpus on a slice "
    "outside kubepods"
)


def _weight(case: _Case) -> str:
    if not case.qos:
        return (
            "kubelet writes the weight of the root cgroup of all pods at its start, from the node's allocatable CPUs. "
            "Set kubeReserved and systemReserved, which determine it, or the weight of the slices beside kubepods"
        )
    how = "the minimum" if case.qos == "besteffort" else "from the CPU requests of all burstable pods"
    return "kubelet writes the weight of this QoS class every minute, %s. Set the weight of single pods instead" % how


def _idle(case: _Case) -> str:
    failure = "kubelet would not start again: the kernel refuses its write of the weight while a cgroup is idle"
    reset = ", or systemd resets idle with that write every minute" if case.driver == "systemd" else ""
    return failure + reset + " (kubernetes#136025, koordinator#2732). Set cpu_idle on single pods instead"


def _limit_of_root(case: _Case) -> str:
    if case.qos:
        return ""
    return (
        "kubelet writes %s of the root cgroup of all pods at its start, from the node's allocatable resources. "
        "Set kubeReserved, systemReserved and enforceNodeAllocatable, which determine it"
    ) % ("the memory limit" if case.knob == "memory_max" else "the limit of tasks")


def _cpus_of_root(case: _Case) -> str:
    if case.qos:
        return ""
    return (
        "kubelet assigns all CPUs to the root cgroup of all pods at its start (getCgroupConfig). "
        "Set cpuset_cpus on the QoS classes or single pods, or reservedSystemCPUs with the static CPU manager"
    )


def _hugetlb(_case: _Case) -> str:
    return "kubelet removes the limits of huge pages from its QoS classes every minute. Set them on single pods instead"


def _protection(case: _Case) -> str:
    if case.qos == "besteffort":
        return ""
    if case.version is None and case.memory_qos is None:
        return "kubelet may write this: neither its version nor its feature gate MemoryQoS is known. " + OWN_SLICE
    if case.version is None and case.memory_qos:
        return _EVERY_MINUTE % " (until 1.36; later versions reset this at their start)"
    if case.version is None or case.version >= MEMORY_QOS_BY_DEFAULT:
        return _FROM_137_ON
    return _EVERY_MINUTE % "" if case.memory_qos else ""


_EVERY_MINUTE = (
    "kubelet's MemoryQoS writes the memory protection of the QoS classes every minute, from the requests of "
    "their pods. Turn the feature gate MemoryQoS off%s, or set memory requests for the pods"
)
# The gate alone, which is on by default, does not set the value: createQOSContainers and setMemoryQoS.
_FROM_137_ON = (
    "kubelet from 1.37 on sets this to 0 at its start (kubernetes#138903), or with memoryReservationPolicy "
    "TieredReservation every minute to the memory requests of the pods. Use TieredReservation with memory requests. "
) + OWN_SLICE


_RULES: Mapping[str, Callable[[_Case], str]] = {
    "cpu_weight": _weight,
    "cpu_idle": _idle,
    "cpuset_cpus": _cpus_of_root,
    "memory_max": _limit_of_root,
    "pids_max": _limit_of_root,
    "memory_min": _protection,
    "memory_low": _protection,
    "hugetlb": _hugetlb,
}
