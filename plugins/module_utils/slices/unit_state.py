# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observed state of a slice: systemd's properties, its files, and its processes and nested units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ..cgroup import slice_names
from ..cgroup.hierarchy import SYSTEMD, hierarchies
from ..host import Host
from ..systemd import stale_cgroups
from ..systemd.bus import ANY_INTERFACE, Bus
from . import cgroup_controllers, managed_files, property_knobs, unit_files
from .properties import RULES
from .property_values import Machine
from .unit_request import Request, read_machine

_UNIT = ("LoadState", "ActiveState", "SubState", "FragmentPath", "DropInPaths", "Transient", "NeedDaemonReload")
_USAGE = ("ControlGroup", "TasksCurrent", "MemoryCurrent", "CPUUsageNSec")
NAMES = (*_UNIT, *_USAGE, *(rule.dbus for rule in RULES.values()))


@dataclass(frozen=True)
class SliceState:
    """Observed state of a slice.

    ``unit``: D-Bus properties, empty for an image. ``kernel_values``: the kernel's values that differ from them.
    ``content``: text of the managed file. ``fragment``: text of the slice's unit file if it is foreign.
    """

    unit: Mapping[str, Any]
    machine: Machine
    locations: managed_files.FileLocations
    content: str | None
    changes: tuple[managed_files.FileChange, ...]
    linked: bool
    drop_ins: tuple[unit_files.DropIn, ...]
    missing_controllers: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[int, ...] = ()
    nested: tuple[str, ...] = ()
    kernel_values: Mapping[str, str] = field(default_factory=dict)
    fragment: str = ""

    @property
    def active(self) -> bool:
        return self.unit.get("ActiveState") in ("active", "activating", "reloading")

    @property
    def live(self) -> bool:
        return bool(self.unit)


def unit_properties(host: Host, name: str) -> Mapping[str, Any]:
    """The unit's D-Bus properties, from one call; empty for an image."""
    return Bus(host).get(name, ANY_INTERFACE, NAMES) if host.live else {}


def observe(host: Host, request: Request) -> SliceState:
    """The state of a slice. ColocationError for a foreign file or property, or if systemd does not reply."""
    if request.present:
        property_knobs.require_not_kubelets(host, request.name, request.settings)
    unit = unit_properties(host, request.name)
    locations = managed_files.locate_files(host, request.name, unit)
    content = managed_files.managed_text(host, request, locations.settings)
    occupied = host.live and not request.present
    return SliceState(
        unit,
        read_machine(host),
        locations,
        content,
        managed_files.plan_file_changes(host, request, locations),
        managed_files.has_boot_link(host, request, locations),
        unit_files.read_drop_ins(host, request.name),
        _absent(host, request),
        _processes(host, request.name) if occupied else (),
        _nested_units(host, request.name) if occupied else (),
        property_knobs.kernel_differences(host, hierarchies(host), unit, request.settings)
        if host.live and request.present
        else {},
        _fragment(host, unit, locations),
    )


def _fragment(host: Host, unit: Mapping[str, Any], locations: managed_files.FileLocations) -> str:
    path = unit.get("FragmentPath", "")
    if not path or path == locations.settings:
        return ""
    try:
        return host.read(path)
    except OSError:
        return ""


def _absent(host: Host, request: Request) -> Mapping[str, str]:
    if not host.live or not request.controllers or not request.present:
        return {}
    return cgroup_controllers.missing_controllers(host, hierarchies(host), request.name, request.controllers)


def _processes(host: Host, name: str) -> tuple[int, ...]:
    return tuple(sorted(stale_cgroups.processes_in(host, [slice_names.path(name)])))


def _nested_units(host: Host, name: str) -> tuple[str, ...]:
    """Units in the slice: stopping it stops them, because each unit requires its slice."""
    tree = hierarchies(host)
    point = tree.points.get(SYSTEMD) or next(iter(tree.points.values()), "")
    directory = f"{point}/{slice_names.path(name)}"
    return tuple(name for name in host.list(directory) if host.is_directory(f"{directory}/{name}"))
