# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a profile and the facts of a node to the data of tasks. Pure; nothing here looks at the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..facts.node_allocatable import UnreadableReservation
from ..facts.node_state import CgroupMode
from .classes import class_tasks, pods_cpus
from .kernel_levels import Scheduler, scheduler
from .levels import Level
from .model import Cannot, CgroupTask, QosPlan, SliceTask
from .node import Kubelet, QosNode
from .pinning import unmet
from .pods import idle_pods, level_settings, pod_task, pods_lack
from .profile import QosProfile
from .reservations import Reservation, reservations
from .slices import LEVEL, shares, slice_task

EVERYTHING = "all settings"
PODS = "pods"
ORDER = (PODS, *(level.value for level in Level), LEVEL)
"""In which order what cannot be done is told."""


def make_plan(node: QosNode, profile: QosProfile, wanted_cgroups: Mapping[str, str]) -> QosPlan:
    """The plan of one node; ``wanted_cgroups``: by kubelet's field, the reserved cgroups it is to be told of."""
    if node.mode is CgroupMode.UNKNOWN:
        return QosPlan(cannot=(Cannot(LEVEL, EVERYTHING, f"which cgroups are in force is not known: {node.reason}"),))
    kind = scheduler(node, profile.kernel_levels)
    try:
        found = reservations(node.kubelet, wanted_cgroups)
    except UnreadableReservation as error:
        reason = f"kubelet's reservations cannot be read: {error}"
        return QosPlan(cannot=(Cannot(LEVEL, EVERYTHING, reason),))
    reserved, slices, unslotted = _slices(node, profile, found)
    cgroups, missing = _cgroups(node, profile, found, kind)
    return QosPlan(
        cgroups=cgroups,
        slices=slices,
        reserved=reserved,
        cannot=tuple(sorted((*missing, *unslotted), key=lambda each: ORDER.index(each.level))),
        levels={level.value: level_settings(node, profile, level, kind) for level in Level},
        kubelet=_kubelet(node.kubelet),
    )


def _slices(
    node: QosNode, profile: QosProfile, found: Sequence[Reservation]
) -> tuple[tuple[SliceTask, ...], tuple[SliceTask, ...], tuple[Cannot, ...]]:
    parts, nameless = shares(node, found)
    decided = [(share, *slice_task(node, share, profile.system)) for share in parts]
    tasks = tuple(task for _share, task, _cannot in decided)
    reserved = tuple(task for share, task, _cannot in decided if share.named)
    return reserved, tasks, (*nameless, *(each for _share, _task, cannot in decided for each in cannot))


def _cgroups(
    node: QosNode, profile: QosProfile, found: Sequence[Reservation], kind: Scheduler
) -> tuple[tuple[CgroupTask, ...], tuple[Cannot, ...]]:
    pinning = tuple(unmet(node)) if Level.HLS in profile.levels else ()
    if not node.tree_exists:
        return (), (*pinning, Cannot(PODS, EVERYTHING, _no_tree(node)))
    tasks, cannot = class_tasks(node, profile, pods_cpus(node, [each.amounts for each in found]), kind)
    pods = (*idle_pods(node, profile, kind), *(pod_task(node, profile, pod, kind) for pod in profile.pods))
    told = profile.levels | {pod.level for pod in profile.pods}
    lack = (each for level in Level if level in told for each in pods_lack(node, profile, level, kind))
    return (*tasks, *(each for each in pods if each.settings)), (*pinning, *cannot, *lack)


def _kubelet(kubelet: Kubelet) -> dict[str, Any]:
    known = {
        "cgroup_driver": kubelet.driver.value if kubelet.driver else None,
        "cgroup_root": kubelet.cgroup_root,
        "memory_qos": kubelet.memory_qos,
        "root_dir": kubelet.root_dir,
        "version": ".".join(map(str, kubelet.version)) if kubelet.version else None,
    }
    return {key: value for key, value in known.items() if value is not None}


def _no_tree(node: QosNode) -> str:
    if node.kubelet.driver is None:
        return "kubelet's cgroup driver is not known, and so not where its cgroups are"
    return f"kubelet has not made its cgroups under the driver {node.kubelet.driver.value}: it has to run first"


def _slice(task: SliceTask) -> dict[str, Any]:
    """Without what is not set, so that a task's options are exactly these."""
    return {key: list(each) if key == "controllers" else each for key, each in asdict(task).items() if each}


def published(plan: QosPlan) -> dict[str, Any]:
    """The plan as the result of qos_plan has it."""
    return {
        "cgroups": [asdict(each) for each in plan.cgroups],
        "slices": [_slice(each) for each in plan.slices],
        "reserved_slices": [_slice(each) for each in plan.reserved],
        "unsupported": [{"level": each.level, "setting": each.thing, "reason": each.reason} for each in plan.cannot],
        "levels": {level: dict(settings) for level, settings in plan.levels.items()},
        "kubelet": dict(plan.kubelet),
    }
