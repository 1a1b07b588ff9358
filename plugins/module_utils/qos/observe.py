# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel's files and systemd's properties say of a cgroup before anything is done."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional, Sequence

from ..cgroup.hierarchy import Hierarchies
from ..errors import ColocationError
from ..host import Host
from ..systemd.bus import Bus
from . import kernel_files
from .conversion import Backend, of_properties, reading
from .knob import Knob, Value
from .target import Target

_INTERFACES = {"slice": "Slice", "scope": "Scope", "service": "Service"}


@dataclass(frozen=True)
class Node:
    """What is needed to look at cgroups and change them; without ``bus`` no systemd is asked, as in a tree of files."""

    host: Host
    hierarchies: Hierarchies
    bus: Optional[Bus] = None

    @property
    def mode(self) -> str:
        return self.hierarchies.mode


@dataclass(frozen=True)
class State:
    """One cgroup as it was found: texts of the files of the knobs asked for, and systemd's properties of its unit.

    ``unit`` is None where systemd does not have the cgroup; ``version`` is systemd's.
    """

    target: Target
    mode: str
    texts: Mapping[str, str]
    unit: Optional[Mapping[str, Any]] = None
    version: int = 0

    def backend(self, knob: Knob) -> Backend:
        """systemd where it writes the knob itself, at the latest with the next set-property or daemon-reload."""
        held = self.unit is not None and knob.in_systemd(self.mode, self.version)
        return Backend.DBUS if held and all(name in self.unit for name in knob.property_names) else Backend.FILE  # type: ignore[operator]

    def has(self, knob: Knob) -> bool:
        """Whether the kernel offers the knob on this cgroup."""
        return knob.supported(self.mode, self.texts.keys())

    def value(self, knob: Knob) -> Value:
        """What the files say; where they are missing, what systemd will write as soon as they are there."""
        if self.has(knob):
            return reading(knob, self.mode, self.texts)
        return of_properties(knob, self.unit or {})


def observe(node: Node, target: Target, knobs: Sequence[Knob]) -> State:
    """Read the files of the knobs and, in one call, their properties; ColocationError when the cgroup is not there."""
    texts = _texts(node, target, knobs)
    names = sorted({name for knob in knobs for name in knob.property_names})
    if node.bus is None or target.unit is None or not names:
        return State(target, node.mode, texts)
    values = node.bus.get(target.unit, interface(target.unit), ["ControlGroup", *names])
    if values.pop("ControlGroup", "") != f"/{target.cgroup}":
        return State(target, node.mode, texts)
    return State(target, node.mode, texts, values, node.bus.version())


def interface(unit: str) -> str:
    """The D-Bus interface of a unit's kind."""
    return _INTERFACES[unit.rpartition(".")[2]]


def missing(node: Node, target: Target, knob: Knob) -> str:
    """Why the cgroup does not have the knob's files, in words."""
    controller = knob.controller(node.mode)
    note = f" ({knob.note})" if knob.note else ""
    if not controller:
        return f"cgroup {node.mode} has no such setting{note}"
    if controller not in node.hierarchies.points:
        return f"this node has no controller {controller}"
    folder = node.hierarchies.folder(controller, target.cgroup)
    if not os.path.isdir(node.host.path(folder)):
        return f"{folder} is not there: nobody made the cgroup in the hierarchy of {controller}"
    if node.mode == "v2" and controller not in enabled(node, folder):
        return f"the controller {controller} is not enabled for {folder}"
    return f"this kernel has no {' or '.join(knob.files(node.mode))} in {folder}{note}"


def enabled(node: Node, folder: str) -> list[str]:
    """The controllers of a cgroup v2 folder."""
    try:
        return node.host.read(f"{folder}/cgroup.controllers").split()
    except OSError:
        return []


def read_back(node: Node, target: Target, knobs: Iterable[Knob]) -> dict[str, str]:
    """Texts of the knobs' files now."""
    return _texts(node, target, list(knobs))


def _texts(node: Node, target: Target, knobs: Sequence[Knob]) -> dict[str, str]:
    """Texts by file name; on v1 the names of two controllers' files never are the same."""
    wanted: dict[str, list[str]] = {}
    for knob in knobs:
        point = node.hierarchies.points.get(knob.controller(node.mode), "")
        for name in knob.files(node.mode) if point else ():
            wanted.setdefault(point, []).append(name)
    texts: dict[str, str] = {}
    for point, names in wanted.items():
        folder = kernel_files.folder(node.host, point, target.cgroup)
        if folder is None:
            continue
        with kernel_files.closing(folder):
            texts.update(kernel_files.read(folder, dict.fromkeys(names)))
    if not texts and not _exists(node, target):
        raise ColocationError(
            f"there is no cgroup {target.cgroup} on this node",
            "Start what makes it, or name another one: systemd-cgls shows those that there are",
        )
    return texts


def _exists(node: Node, target: Target) -> bool:
    points = set(node.hierarchies.points.values())
    return any(os.path.isdir(node.host.path(f"{point}/{target.cgroup}")) for point in points)
