# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a QoS profile comes to on one node: the data of the tasks, and what the node cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]
"""Values by the name of their knob; None puts back what was there before us."""


@dataclass(frozen=True)
class CgroupTask:
    """Options of cgroup_qos: qos_class (with level: pods, each pod of it) or pod, and the settings."""

    target: Mapping[str, Any]
    settings: Settings


@dataclass(frozen=True)
class SliceTask:
    """Options of systemd_slice, which takes back a property that it set before and that is not named any more."""

    name: str
    state: str = "present"
    description: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cannot:
    """Something of a level that this node does not get, and why; level "system" is the slices beside the pods."""

    level: str
    thing: str
    reason: str


@dataclass(frozen=True)
class QosPlan:
    """``reserved`` are the slices that have to exist before kubelet is told of them.

    ``levels``: what a pod of each of the Volcano agent's levels gets on this node. ``kubelet``: what cgroup_qos has to
    know of kubelet, as far as it is known.
    """

    cgroups: tuple[CgroupTask, ...] = ()
    slices: tuple[SliceTask, ...] = ()
    reserved: tuple[SliceTask, ...] = ()
    cannot: tuple[Cannot, ...] = ()
    levels: Mapping[str, Settings] = field(default_factory=dict)
    kubelet: Mapping[str, Any] = field(default_factory=dict)
