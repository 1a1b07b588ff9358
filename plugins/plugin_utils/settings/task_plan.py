# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a QoS profile and the facts of a node to the data of tasks. Pure; nothing here looks at the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..facts.node_allocatable import UnreadableReservation
from ..facts.node_state import CgroupMode
from .kubelet_reservations import Reservation, kubelet_reservations
from .node_support import CgroupTask, KubeletSettings, QosNode, QosPlan, SliceTask, Unsupported
from .pod_levels import (
    KernelScheduler,
    detect_scheduler,
    idle_pods,
    level_settings,
    pinning_obstacles,
    pod_task,
    unsupported_for_pods,
)
from .qos_classes import class_tasks, pods_cpus
from .qos_profile import QosLevel, QosProfile
from .reserved_slices import SYSTEM_LEVEL, group_by_slice, plan_slice

ALL_SETTINGS = "all settings"
ALL_PODS = "pods"
LEVEL_ORDER = (ALL_PODS, *(level.value for level in QosLevel), SYSTEM_LEVEL)
"""In which order what cannot be done is told."""


def plan_tasks(node: QosNode, profile: QosProfile, wanted_cgroups: Mapping[str, str]) -> QosPlan:
    """The plan of one node; ``wanted_cgroups``: by kubelet's field, the reserved cgroups it is to be told of."""
    if node.mode is CgroupMode.UNKNOWN:
        return QosPlan(
            unsupported=(
                Unsupported(SYSTEM_LEVEL, ALL_SETTINGS, f"which cgroups are in force is not known: {node.reason}"),
            )
        )
    kind = detect_scheduler(node, profile.kernel_levels)
    try:
        found = kubelet_reservations(node.kubelet, wanted_cgroups)
    except UnreadableReservation as error:
        reason = f"kubelet's reservations cannot be read: {error}"
        return QosPlan(unsupported=(Unsupported(SYSTEM_LEVEL, ALL_SETTINGS, reason),))
    reserved, slices, unslotted = _plan_slices(node, profile, found)
    cgroups, missing = _plan_cgroups(node, profile, found, kind)
    return QosPlan(
        cgroups=cgroups,
        slices=slices,
        reserved=reserved,
        unsupported=tuple(sorted((*missing, *unslotted), key=lambda each: LEVEL_ORDER.index(each.level))),
        levels={level.value: level_settings(node, profile, level, kind) for level in QosLevel},
        kubelet=_kubelet_options(node.kubelet),
    )


def _plan_slices(
    node: QosNode, profile: QosProfile, found: Sequence[Reservation]
) -> tuple[tuple[SliceTask, ...], tuple[SliceTask, ...], tuple[Unsupported, ...]]:
    parts, nameless = group_by_slice(node, found)
    decided = [(share, *plan_slice(node, share, profile.system)) for share in parts]
    tasks = tuple(task for _share, task, _cannot in decided)
    reserved = tuple(task for share, task, _cannot in decided if share.named)
    return reserved, tasks, (*nameless, *(each for _share, _task, cannot in decided for each in cannot))


def _plan_cgroups(
    node: QosNode, profile: QosProfile, found: Sequence[Reservation], kind: KernelScheduler
) -> tuple[tuple[CgroupTask, ...], tuple[Unsupported, ...]]:
    pinning = tuple(pinning_obstacles(node)) if QosLevel.HLS in profile.levels else ()
    if not node.tree_exists:
        return (), (*pinning, Unsupported(ALL_PODS, ALL_SETTINGS, _no_tree(node)))
    tasks, cannot = class_tasks(node, profile, pods_cpus(node, [each.amounts for each in found]), kind)
    pods = (*idle_pods(node, profile, kind), *(pod_task(node, profile, pod, kind) for pod in profile.pods))
    told = profile.levels | {pod.level for pod in profile.pods}
    lack = (each for level in QosLevel if level in told for each in unsupported_for_pods(node, profile, level, kind))
    return (*tasks, *(each for each in pods if each.settings)), (*pinning, *cannot, *lack)


def _kubelet_options(kubelet: KubeletSettings) -> dict[str, Any]:
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


def _slice_result(task: SliceTask) -> dict[str, Any]:
    """Without what is not set, so that a task's options are exactly these."""
    return {key: list(each) if key == "controllers" else each for key, each in asdict(task).items() if each}


def qos_plan_result(plan: QosPlan) -> dict[str, Any]:
    """The plan as the result of qos_plan has it."""
    return {
        "cgroups": [asdict(each) for each in plan.cgroups],
        "slices": [_slice_result(each) for each in plan.slices],
        "reserved_slices": [_slice_result(each) for each in plan.reserved],
        "unsupported": [
            {"level": each.level, "setting": each.thing, "reason": each.reason} for each in plan.unsupported
        ],
        "levels": {level: dict(settings) for level, settings in plan.levels.items()},
        "kubelet": dict(plan.kubelet),
    }
