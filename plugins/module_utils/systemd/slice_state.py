# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice as it is: systemd's properties of it, its files, who is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ..cgroup import slices
from ..cgroup.hierarchy import SYSTEMD, hierarchies
from ..host import Host
from ..transaction import stale_cgroups
from . import companion, drop_ins, kernel_values, kubelet_slices, slice_files
from .bus import ANY_INTERFACE, Bus
from .properties import RULES
from .property_values import Machine
from .slice_request import Request, machine

_UNIT = ("LoadState", "ActiveState", "SubState", "FragmentPath", "DropInPaths", "Transient", "NeedDaemonReload")
_USAGE = ("ControlGroup", "TasksCurrent", "MemoryCurrent", "CPUUsageNSec")
NAMES = (*_UNIT, *_USAGE, *(rule.dbus for rule in RULES.values()))


@dataclass(frozen=True)
class SliceState:
    """``unit``: D-Bus properties, empty for an image. ``unlike``: what the kernel has where they are as wanted.

    ``fragment``: text of the slice's unit file where that is somebody else's.
    """

    unit: Mapping[str, Any]
    machine: Machine
    where: slice_files.Places
    own: str | None
    changes: tuple[slice_files.FileChange, ...]
    linked: bool
    drop_ins: tuple[drop_ins.DropIn, ...]
    absent: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[int, ...] = ()
    nested: tuple[str, ...] = ()
    unlike: Mapping[str, str] = field(default_factory=dict)
    fragment: str = ""

    @property
    def active(self) -> bool:
        return self.unit.get("ActiveState") in ("active", "activating", "reloading")

    @property
    def live(self) -> bool:
        return bool(self.unit)


def unit_properties(host: Host, name: str) -> Mapping[str, Any]:
    """One program."""
    return Bus(host).get(name, ANY_INTERFACE, NAMES) if host.live else {}


def observe(host: Host, request: Request) -> SliceState:
    """ColocationError when a file or a property is somebody else's, or systemd does not answer."""
    if request.present:
        kubelet_slices.require_ours(host, request.name, request.settings)
    unit = unit_properties(host, request.name)
    where = slice_files.places(host, request.name, unit)
    own = slice_files.own_text(host, request, where.settings)
    occupied = host.live and not request.present
    return SliceState(
        unit,
        machine(host),
        where,
        own,
        slice_files.changes(host, request, where),
        slice_files.link_is_there(host, request, where),
        drop_ins.read(host, request.name),
        _absent(host, request),
        _processes(host, request.name) if occupied else (),
        _nested(host, request.name) if occupied else (),
        kernel_values.unlike(host, hierarchies(host), unit, request.settings) if host.live and request.present else {},
        _fragment(host, unit, where),
    )


def _fragment(host: Host, unit: Mapping[str, Any], where: slice_files.Places) -> str:
    path = unit.get("FragmentPath", "")
    if not path or path == where.settings:
        return ""
    try:
        return host.read(path)
    except OSError:
        return ""


def _absent(host: Host, request: Request) -> Mapping[str, str]:
    if not host.live or not request.controllers or not request.present:
        return {}
    return companion.absent(host, hierarchies(host), request.name, request.controllers)


def _processes(host: Host, name: str) -> tuple[int, ...]:
    return tuple(sorted(stale_cgroups.occupants(host, [slices.path(name)])))


def _nested(host: Host, name: str) -> tuple[str, ...]:
    """Units in the slice: stopping it stops them, as each requires its slice."""
    tree = hierarchies(host)
    point = tree.points.get(SYSTEMD) or next(iter(tree.points.values()), "")
    folder = f"{point}/{slices.path(name)}"
    return tuple(each for each in host.list(folder) if host.is_folder(f"{folder}/{each}"))
