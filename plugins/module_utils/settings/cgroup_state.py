# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observed state of a cgroup before a change: the kernel's files and systemd's properties."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Mapping, Sequence

from ..cgroup.hierarchy import Hierarchies
from ..errors import ColocationError
from ..host import Host
from ..systemd.bus import Bus
from . import cgroup_files
from .codec import Backend, from_properties, parse_texts
from .knob import Knob, Value
from .target_cgroups import Target

_INTERFACES = {"slice": "Slice", "scope": "Scope", "service": "Service"}


@dataclass(frozen=True)
class Node:
    """Access to the cgroups of a node. Without ``bus`` systemd is not used, for example in a tree of plain files.

    ``systemd`` is systemd's version.
    """

    host: Host
    hierarchies: Hierarchies
    bus: Bus | None = None
    systemd: int = 0

    @property
    def mode(self) -> str:
        return self.hierarchies.mode


@dataclass(frozen=True)
class State:
    """Observed state of a cgroup: texts of the files of the requested knobs, and systemd's properties of its unit.

    ``unit`` is None where systemd does not have the cgroup; ``version`` is systemd's. ``missing`` maps each knob that
    cannot be set here to the reason.
    """

    target: Target
    mode: str
    texts: Mapping[str, str]
    unit: Mapping[str, Any] | None = None
    version: int = 0
    missing: Mapping[str, str] = field(default_factory=dict)

    def backend(self, knob: Knob) -> Backend:
        """DBUS where systemd writes the knob itself, at the latest at the next set-property or daemon-reload."""
        owned = self.unit is not None and knob.in_systemd(self.mode, self.version)
        return Backend.DBUS if owned and all(name in self.unit for name in knob.property_names) else Backend.FILE  # type: ignore[operator]

    def overwritten(self, knob: Knob) -> bool:
        """Whether systemd writes the file unasked, although no property of the unit holds the value."""
        since = knob.overwritten_since
        return self.unit is not None and self.mode == "v2" and since is not None and self.version >= since

    def has(self, knob: Knob) -> bool:
        """Whether the kernel offers the knob on this cgroup."""
        return knob.supported(self.mode, self.texts.keys())

    def value(self, knob: Knob) -> Value:
        """The value in the files; where they are missing, the value that systemd will write once they exist."""
        if self.has(knob):
            return parse_texts(knob, self.mode, self.texts)
        return from_properties(knob, self.unit or {})


def observe(node: Node, target: Target, knobs: Sequence[Knob]) -> State:
    """Read the files of the knobs and, in one call, their properties; ColocationError if the cgroup does not exist."""
    state = _with_unit(node, State(target, node.mode, read_files(node, target, knobs)), knobs)
    reasons = {knob.name: _missing(node, state, knob) for knob in knobs if not state.has(knob)}
    return replace(state, missing={name: reason for name, reason in reasons.items() if reason})


def _with_unit(node: Node, state: State, knobs: Sequence[Knob]) -> State:
    unit = state.target.unit
    names = sorted({name for knob in knobs for name in knob.property_names})
    if node.bus is None or unit is None or not (names or any(knob.overwritten_since for knob in knobs)):
        return state
    values = dict(node.bus.get(unit, unit_interface(unit), ["ControlGroup", *names]))
    if values.pop("ControlGroup", "") != f"/{state.target.cgroup}":
        return state
    return replace(state, unit=values, version=node.systemd)


def unit_interface(unit: str) -> str:
    """The D-Bus interface of a unit's type."""
    return _INTERFACES[unit.rpartition(".")[2]]


def _missing(node: Node, state: State, knob: Knob) -> str:
    """The reason why the knob cannot be set on the cgroup; empty where systemd will enable its controller."""
    controller = knob.controller(node.mode)
    note = f" ({knob.note})" if knob.note else ""
    if not controller:
        return f"cgroup {node.mode} does not have this setting{note}"
    if controller not in node.hierarchies.points:
        return f"this node has no controller {controller}"
    directory = node.hierarchies.directory(controller, state.target.cgroup)
    if not node.host.is_directory(directory):
        return f"{directory} does not exist: no program made the cgroup in the hierarchy of {controller}"
    if node.mode == "v2" and controller not in _enabled_controllers(node, directory):
        if state.backend(knob) is Backend.DBUS:
            return ""
        return f"the controller {controller} is not enabled for {directory}"
    return f"this kernel has no {' or '.join(knob.files(node.mode))} in {directory}{note}"


def _enabled_controllers(node: Node, directory: str) -> list[str]:
    """The controllers of a cgroup v2 directory."""
    try:
        return node.host.read(f"{directory}/cgroup.controllers").split()
    except OSError:
        return []


def read_files(node: Node, target: Target, knobs: Sequence[Knob]) -> dict[str, str]:
    """Texts of the knobs' files by name, which is unique on a node; ColocationError if the cgroup does not exist."""
    names_by_point: dict[str, list[str]] = {}
    points, mode = node.hierarchies.points, node.mode
    for knob in knobs:
        point = points.get(knob.controller(mode), "")
        if point:
            names_by_point.setdefault(point, []).extend(knob.files(mode))
    texts: dict[str, str] = {}
    for point, names in names_by_point.items():
        directory = cgroup_files.open_cgroup(node.host, point, target.cgroup)
        if directory is None:
            continue
        with cgroup_files.close_after(directory):
            texts.update(cgroup_files.read_texts(directory, dict.fromkeys(names), f"{point}/{target.cgroup}"))
    if not texts and not _exists(node, target):
        raise ColocationError(
            f"there is no cgroup {target.cgroup} on this node",
            "Start the unit or pod that makes it, or name another one: systemd-cgls lists the cgroups",
        )
    return texts


def _exists(node: Node, target: Target) -> bool:
    points = set(node.hierarchies.points.values())
    return any(node.host.is_directory(f"{point}/{target.cgroup}") for point in points)
