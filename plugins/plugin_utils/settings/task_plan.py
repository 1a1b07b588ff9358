# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a QoS profile and the facts of a node to the data of tasks; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..facts.node_allocatable import UnreadableReservation
from ..facts.node_state import CgroupMode
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
from .reserved_slices import SYSTEM_LEVEL, Reservation, group_by_slice, kubelet_reservations, plan_slice

ALL_SETTINGS = "all settings"
ALL_PODS = "pods"
LEVEL_ORDER = (ALL_PODS, *(level.value for level in QosLevel), SYSTEM_LEVEL)
"""The order in which unsupported settings are reported."""


def plan_tasks(node: QosNode, profile: QosProfile, desired_cgroups: Mapping[str, str]) -> QosPlan:
    """The plan of one node; ``desired_cgroups``: the reserved cgroups that kubelet will have, by its field."""
    if node.mode is CgroupMode.UNKNOWN:
        return QosPlan(
            unsupported=(Unsupported(SYSTEM_LEVEL, ALL_SETTINGS, f"the cgroup version is unknown: {node.reason}"),)
        )
    kind = detect_scheduler(node, profile.kernel_levels)
    try:
        reservations = kubelet_reservations(node.kubelet, desired_cgroups)
    except UnreadableReservation as error:
        reason = f"kubelet's reservations cannot be read: {error}"
        return QosPlan(unsupported=(Unsupported(SYSTEM_LEVEL, ALL_SETTINGS, reason),))
    reserved, slices, unsupported_slices = _plan_slices(node, profile, reservations)
    cgroups, unsupported_cgroups = _plan_cgroups(node, profile, reservations, kind)
    unsupported = (*unsupported_cgroups, *unsupported_slices)
    return QosPlan(
        cgroups=cgroups,
        slices=slices,
        reserved=reserved,
        unsupported=tuple(sorted(unsupported, key=lambda entry: LEVEL_ORDER.index(entry.level))),
        levels={level.value: level_settings(node, profile, level, kind) for level in QosLevel},
        kubelet=_kubelet_options(node.kubelet),
    )


def _plan_slices(
    node: QosNode, profile: QosProfile, reservations: Sequence[Reservation]
) -> tuple[tuple[SliceTask, ...], tuple[SliceTask, ...], tuple[Unsupported, ...]]:
    shares, without_slice = group_by_slice(node, reservations)
    decided = [(share, *plan_slice(node, share, profile.system)) for share in shares]
    tasks = tuple(task for _share, task, _unsupported in decided)
    reserved = tuple(task for share, task, _unsupported in decided if share.configured)
    unsupported = (entry for _share, _task, entries in decided for entry in entries)
    return reserved, tasks, (*without_slice, *unsupported)


def _plan_cgroups(
    node: QosNode, profile: QosProfile, reservations: Sequence[Reservation], kind: KernelScheduler
) -> tuple[tuple[CgroupTask, ...], tuple[Unsupported, ...]]:
    pinning = tuple(pinning_obstacles(node)) if QosLevel.HLS in profile.levels else ()
    if not node.tree_exists:
        return (), (*pinning, Unsupported(ALL_PODS, ALL_SETTINGS, _no_tree(node)))
    cpus = pods_cpus(node, [reservation.amounts for reservation in reservations])
    tasks, unsupported = class_tasks(node, profile, cpus, kind)
    pods = (*idle_pods(node, profile, kind), *(pod_task(node, profile, pod, kind) for pod in profile.pods))
    levels = profile.levels | {pod.level for pod in profile.pods}
    for_pods = (
        entry for level in QosLevel if level in levels for entry in unsupported_for_pods(node, profile, level, kind)
    )
    return (*tasks, *(task for task in pods if task.settings)), (*pinning, *unsupported, *for_pods)


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
        return "kubelet's cgroup driver is not known, and therefore the location of its cgroups"
    return f"kubelet has not created its cgroups under the driver {node.kubelet.driver.value}: it must run first"


def _slice_result(task: SliceTask) -> dict[str, Any]:
    """The options of the task, without options that are not set."""
    return {key: list(value) if key == "controllers" else value for key, value in asdict(task).items() if value}


def qos_plan_result(plan: QosPlan) -> dict[str, Any]:
    """The plan as the result of qos_plan has it."""
    return {
        "cgroups": [asdict(task) for task in plan.cgroups],
        "slices": [_slice_result(task) for task in plan.slices],
        "reserved_slices": [_slice_result(task) for task in plan.reserved],
        "unsupported": [
            {"level": entry.level, "setting": entry.setting, "reason": entry.reason} for entry in plan.unsupported
        ],
        "levels": {level: dict(settings) for level, settings in plan.levels.items()},
        "kubelet": dict(plan.kubelet),
    }
