# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's table: which knob of which cgroup it writes itself, when, and what to do instead.

Source, where none is given: kubernetes pkg/kubelet/cm/qos_container_manager_linux.go (every minute, by
periodicQOSCgroupUpdateInterval) and node_container_manager_linux.go (at its start).

kubelet writes a pod's cgroup when it creates or resizes the pod, and never again: what is set there is ours, and the
next pod has to be given it anew. Nor does it ever write memory.high, cpu.max, bursts or io of a QoS class.
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
    """Major and minor of ``1.31``, ``v1.31.4`` and the like; None for nothing."""
    if text is None:
        return None
    found = re.match(r"v?(\d+)\.(\d+)", text)
    if found is None:
        raise ColocationError(f"kubelet_version: {text!r} is no version", "Write it like 1.31")
    return int(found.group(1)), int(found.group(2))


def has_static_cpu_policy(host: Host, kubelet_root: str) -> bool | None:
    """Whether the CPU manager pins pods, from the checkpoint that kubelet writes at each start; None when unknown.

    Source: kubernetes pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    try:
        policy = json.loads(host.read(f"{kubelet_root.rstrip('/')}/{CHECKPOINT}"))["policyName"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return bool(policy == "static")


class CgroupLevel(str, Enum):
    """Which cgroup: of kubelet's tree, or any other."""

    ROOT = "root"
    QOS_CLASS = "qos class"
    POD = "pod"
    CONTAINER = "container"
    OTHER = "other"


def cgroup_level(cgroup: KubeletCgroup) -> CgroupLevel:
    """What a cgroup in kubelet's tree is; all that is in a pod's counts as a container."""
    if cgroup.pod_uid:
        return CgroupLevel.CONTAINER if cgroup.container_id or cgroup.below else CgroupLevel.POD
    if cgroup.below:
        return CgroupLevel.OTHER
    return CgroupLevel.ROOT if cgroup.qos is QosClass.GUARANTEED else CgroupLevel.QOS_CLASS


Version = Tuple[int, int]

MEMORY_QOS_BY_DEFAULT: Version = (1, 37)
"""pkg/features/kube_features.go MemoryQoS. From this version on kubelet takes protections back at its start, with the
gate on or off, unless memoryReservationPolicy is TieredReservation (kubernetes#138903)."""

OWN_SLICE = "Set it on a slice of your own beside kubepods, or on single pods"


@dataclass(frozen=True)
class _Case:
    """What the rules ask; ``qos`` is "" at the root, which is the cgroup of the guaranteed class too."""

    knob: str
    qos: str
    driver: str
    version: Version | None
    static_cpu: bool
    memory_qos: bool | None


def refusal(
    knob: Knob,
    place: CgroupLevel,
    qos: str | None,
    driver: str,
    version: Version | None,
    *,
    static_cpu: bool,
    memory_qos: bool | None,
) -> str:
    """Why the knob is not ours on that cgroup: who writes it, when, and the way out; empty when it is ours.

    ``qos`` is a QosClass, ``driver`` a Driver of kubelet, ``version`` kubelet's; ``memory_qos`` None is a gate that
    nobody has set. What is unknown is refused where it matters.
    """
    if place is CgroupLevel.OTHER:
        return ""
    if knob.name in ("cpuset_cpus", "cpuset_mems", "cpuset_partition") and static_cpu:
        return _CPUSET
    if place not in (CgroupLevel.ROOT, CgroupLevel.QOS_CLASS):
        return ""
    at_root = place is CgroupLevel.ROOT or qos in (None, "guaranteed")
    case = _Case(knob.name, "" if at_root else str(getattr(qos, "value", qos)), driver, version, static_cpu, memory_qos)
    rule = _RULES.get("hugetlb" if knob.name.startswith("hugetlb_") else knob.name)
    return rule(case) if rule else ""


_CPUSET = (
    "under the static CPU manager kubelet gives containers their CPUs and puts them back every 10 seconds "
    "(pkg/kubelet/cm/cpumanager reconcileState); a cpuset above or on them takes away the exclusive CPUs of others, "
    "and containers fail to start. Bound CPU time with cpu_quota instead, or a slice outside kubepods with cpuset_cpus"
)


def _weight(case: _Case) -> str:
    if not case.qos:
        return (
            "kubelet writes the weight of the root of all pods at its start, from what the node can allocate. "
            "Set kubeReserved and systemReserved, from which it follows, or the weight of the slices beside kubepods"
        )
    how = "the least there is" if case.qos == "besteffort" else "from the CPU requests of all burstable pods"
    return "kubelet writes the weight of this QoS class every minute, %s. Set the weight of single pods instead" % how


def _idle(case: _Case) -> str:
    stops = "kubelet would not start again: its write of the weight is refused while a cgroup is idle"
    undone = ", or systemd takes idle back with it every minute" if case.driver == "systemd" else ""
    return stops + undone + " (kubernetes#136025, koordinator#2732). Set cpu_idle on single pods instead"


def _limit_of_root(case: _Case) -> str:
    if case.qos:
        return ""
    return (
        "kubelet writes %s of the root of all pods at its start, from what the node can allocate. "
        "Set kubeReserved, systemReserved and enforceNodeAllocatable, from which it follows"
    ) % ("the memory limit" if case.knob == "memory_max" else "the limit of tasks")


def _cpus_of_root(case: _Case) -> str:
    if case.qos:
        return ""
    return (
        "kubelet gives the root of all pods all CPUs at its start (getCgroupConfig). "
        "Set cpuset_cpus on the QoS classes or single pods, or reservedSystemCPUs with the static CPU manager"
    )


def _hugetlb(_case: _Case) -> str:
    return (
        "kubelet takes the limits of huge pages away from its QoS classes every minute. Set them on single pods instead"
    )


def _protection(case: _Case) -> str:
    if case.qos == "besteffort":
        return ""
    if case.version is None and case.memory_qos is None:
        return "neither kubelet's version nor its gate MemoryQoS is known, under which it writes this. " + OWN_SLICE
    if case.version is None and case.memory_qos:
        return _EVERY_MINUTE % " (until 1.36; later it takes this back at its start)"
    if case.version is None or case.version >= MEMORY_QOS_BY_DEFAULT:
        return _FROM_137_ON
    return _EVERY_MINUTE % "" if case.memory_qos else ""


_EVERY_MINUTE = (
    "kubelet's MemoryQoS writes the memory protection of the QoS classes every minute, from the requests of "
    "their pods. Turn the gate MemoryQoS off%s, or give the pods memory requests"
)
# The gate alone, which is on by default, does not change it: createQOSContainers and setMemoryQoS.
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
