# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the plan of a slice and read the result back."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Mapping

from ..cgroup import slice_names
from ..cgroup.hierarchy import hierarchies
from ..errors import ColocationError
from ..host import Host
from ..systemd import stale_cgroups
from ..systemd.bus import Bus
from ..systemd.dbus_values import Property
from . import cgroup_controllers, unit_files
from .cgroup_controllers import missing_controllers
from .managed_files import apply_file_changes, remove_files
from .properties import to_bus_properties
from .unit_plan import Plan, differing_settings, supported_settings
from .unit_request import Request
from .unit_state import SliceState, unit_properties


def apply(host: Host, request: Request, state: SliceState, planned: Plan) -> Mapping[str, Any]:
    """Apply the plan and return the unit's properties. An error restores files and values."""
    if planned.stop:
        Bus(host).stop(request.name)
    target = state.locations.settings if planned.link else None
    with apply_file_changes(host, planned.files, None if planned.link is None else state.locations.link, target):
        if not state.live:
            return {}
        if not request.present:
            return _remove_live(host, request, planned)
        try:
            return _apply_live(host, request, state, planned)
        except ColocationError:
            _restore_values(host, request, state, planned)
            raise


def _apply_live(host: Host, request: Request, state: SliceState, planned: Plan) -> Mapping[str, Any]:
    bus = Bus(host)
    if planned.reload:
        bus.reload()
    if planned.push:
        bus.set(request.name, to_bus_properties(planned.push))
    if planned.start:
        bus.start(request.name)
    if planned.controller_unit and request.controller_unit:
        bus.start(request.controller_unit.unit)
    unit = unit_properties(host, request.name)
    unit = _enforce_settings(host, request, unit) if planned.start or state.active else unit
    cgroup_controllers.release_cpusets(host, request.name, planned.push)
    require_controllers(host, request)
    return unit


def _restore_values(host: Host, request: Request, state: SliceState, planned: Plan) -> None:
    """Restore systemd's values; errors here are suppressed in favor of the first error."""
    bus = Bus(host)
    with suppress(ColocationError):
        if planned.start:
            bus.stop(request.name)
        elif planned.push:
            previous = [
                Property(setting.value.name, setting.value.signature, state.unit[setting.value.name])
                for setting in planned.push
            ]
            bus.set(request.name, previous)
        remaining = unit_files.runtime_drop_ins(request.name, unit_files.read_drop_ins(host, request.name))
        remove_files(host, set(remaining) - set(unit_files.runtime_drop_ins(request.name, state.drop_ins)))


def _enforce_settings(host: Host, request: Request, unit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Set values again that differ because systemd kept those of an earlier start or has not reread a file."""
    missing = differing_settings(supported_settings(request, unit), unit)
    if not missing:
        return unit
    Bus(host).set(request.name, to_bus_properties(missing))
    unit = unit_properties(host, request.name)
    missing = differing_settings(supported_settings(request, unit), unit)
    if missing:
        raise ColocationError(
            f"systemd did not apply {', '.join(setting.lines[-1] for setting in missing)} for {request.name}",
            f"See journalctl --unit {request.name} and systemctl show {request.name} on the node",
        )
    return unit


def _remove_live(host: Host, request: Request, planned: Plan) -> Mapping[str, Any]:
    bus = Bus(host)
    if planned.push:
        bus.set(request.name, to_bus_properties(planned.push))
    # The call creates drop-ins, which would override settings that other programs make later.
    new_drop_ins = unit_files.runtime_drop_ins(
        request.name, unit_files.read_drop_ins(host, request.name), [setting.name for setting in planned.push]
    )
    remove_files(host, {*planned.discard, *new_drop_ins})
    if planned.stop:
        # systemd does not manage cpuset, hugetlb and similar controllers on v1.
        for tree in stale_cgroups.cgroup_directories(host, slice_names.path(request.name)):
            stale_cgroups.remove_tree(host, tree)
    unit = unit_properties(host, request.name)
    if planned.reload and planned.changed and (unit.get("NeedDaemonReload") or _is_still_loaded(unit, planned)):
        bus.reload()
    return unit


def _is_still_loaded(unit: Mapping[str, Any], planned: Plan) -> bool:
    """Whether the unit is still loaded from deleted files: slices.target wants it until systemd reloads its units."""
    deleted = {*planned.discard, *(change.path for change in planned.files if change.after is None)}
    return unit.get("FragmentPath") in deleted or not deleted.isdisjoint(unit.get("DropInPaths", ()))


def require_controllers(host: Host, request: Request) -> None:
    """ColocationError if the slice has no cgroup in a requested controller."""
    if not host.live or not request.present or not request.controllers:
        return
    missing = missing_controllers(host, hierarchies(host), request.name, request.controllers)
    if missing:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in sorted(missing.items()))
        raise ColocationError(f"{request.name} is not in every controller: {reasons}", "Remove them from controllers")
