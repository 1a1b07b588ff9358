# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a setting cannot be had on a node: its controller, its file, its kernel, or kubelet itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils.cgroup.kubelet_names import QosClass
from ...module_utils.settings.ownership import CgroupLevel, refusal
from ...module_utils.settings.registry import knob as knob_of
from ..findings.rules.memory_qos import SOUND_KERNEL
from .model import Cannot, Settings
from .node import QosNode

FEATURES = {"cpu_bvt_warp_ns": "cpu_bvt"}
"""The fact that tells of a knob, where it has another name than the knob."""
PROTECTION = ("memory_min", "memory_low")
RECURSIVE_PROTECTION = (5, 7)
"""The first kernel whose cgroup2 can be mounted with memory_recursiveprot (Documentation/admin-guide/cgroup-v2.rst)."""

Obstacle = Callable[[str], str]
"""From a knob's name to the reason why not; empty where nothing is in the way."""


def obstacle(node: QosNode, knob: str) -> str:
    """Why the node's kernel has no such setting, or none that can be used.

    What is not known is no obstacle: cgroup_qos looks for the file itself, and says what it left out.
    """
    controller = knob_of(knob).controller("v2" if node.v2 else "v1")
    if not controller:
        return f"it is known on cgroup v1 only, and this node has {node.mode.value}"
    if controller not in node.controllers:
        return f"the controller {controller} is not in force on this node ({node.reason})"
    feature = FEATURES.get(knob, knob)
    if node.features.get(feature) is False:
        return f"this kernel ({node.release}) has no {node.probed[feature]}{_instead(node, knob)}"
    if knob == "memory_high" and node.kernel is not None and node.kernel < SOUND_KERNEL:
        return (
            f"Linux {node.release} may stall what reaches memory.high without an end; 5.9 and newer do not (KEP-2570)"
        )
    if knob in PROTECTION and node.v2 and node.kernel is not None and node.kernel < RECURSIVE_PROTECTION:
        return (
            f"Linux {node.release} does not hand the protection of a cgroup down to those in it;"
            " 5.7 and newer do (memory_recursiveprot)"
        )
    return ""


def _instead(node: QosNode, knob: str) -> str:
    if node.v2 or not knob.startswith("memory_"):
        return ""
    if knob == "memory_high":
        return ", which came with cgroup v2; memory_max limits here as well, but kills where memory_high throttles"
    return ", which came with cgroup v2" if knob in PROTECTION else ""


def kubelets(node: QosNode, qos: QosClass, knob: str) -> str:
    """Why a setting of a class is not ours: kubelet writes it itself. Said by the table that cgroup_qos goes by."""
    kubelet = node.kubelet
    return refusal(
        knob_of(knob),
        CgroupLevel.ROOT if qos is QosClass.GUARANTEED else CgroupLevel.QOS_CLASS,
        qos.value,
        kubelet.driver.value if kubelet.driver else "",
        kubelet.version,
        static_cpu=kubelet.cpu_manager_policy != "none",
        memory_qos=kubelet.memory_qos,
    )


def split(level: str, wanted: Mapping[str, Any], why_not: Obstacle) -> tuple[Settings, tuple[Cannot, ...]]:
    """What can be set, and why the rest cannot. Of what is not wanted and cannot be, nothing is said."""
    reasons = {knob: why_not(knob) for knob in wanted}
    settings = {knob: value for knob, value in wanted.items() if not reasons[knob]}
    cannot = tuple(
        Cannot(level, knob, reasons[knob]) for knob, value in wanted.items() if reasons[knob] and value is not None
    )
    return settings, cannot
