# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying a slice's plan out, and reading back what came of it."""

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
    """The unit's properties afterwards. After an error files and values are what they were."""
    if planned.stop:
        Bus(host).stop(request.name)
    target = state.where.settings if planned.link else None
    with apply_file_changes(host, planned.files, None if planned.link is None else state.where.link, target):
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
    found = unit_properties(host, request.name)
    found = _enforce_settings(host, request, found) if planned.start or state.active else found
    cgroup_controllers.release_cpusets(host, request.name, planned.push)
    require_controllers(host, request)
    return found


def _restore_values(host: Host, request: Request, state: SliceState, planned: Plan) -> None:
    """What systemd holds is as it was; its first error is the one that counts."""
    bus = Bus(host)
    with suppress(ColocationError):
        if planned.start:
            bus.stop(request.name)
        elif planned.push:
            old = [
                Property(each.value.name, each.value.signature, state.unit[each.value.name]) for each in planned.push
            ]
            bus.set(request.name, old)
        left = unit_files.runtime_drop_ins(request.name, unit_files.read_drop_ins(host, request.name))
        remove_files(host, set(left) - set(unit_files.runtime_drop_ins(request.name, state.drop_ins)))


def _enforce_settings(host: Host, request: Request, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values of an earlier life of the unit, or of a file that systemd has not read again, are pushed aside."""
    missing = differing_settings(supported_settings(request, found), found)
    if not missing:
        return found
    Bus(host).set(request.name, to_bus_properties(missing))
    found = unit_properties(host, request.name)
    missing = differing_settings(supported_settings(request, found), found)
    if missing:
        raise ColocationError(
            f"systemd does not keep {', '.join(each.lines[-1] for each in missing)} for {request.name}",
            f"See journalctl --unit {request.name} and systemctl show {request.name} on the node",
        )
    return found


def _remove_live(host: Host, request: Request, planned: Plan) -> Mapping[str, Any]:
    bus = Bus(host)
    if planned.push:
        bus.set(request.name, to_bus_properties(planned.push))
    # The call leaves drop-ins of its own, which would hide what others set later.
    again = unit_files.runtime_drop_ins(
        request.name, unit_files.read_drop_ins(host, request.name), [each.name for each in planned.push]
    )
    remove_files(host, {*planned.discard, *again})
    if planned.stop:
        # systemd knows nothing of cpuset, hugetlb and the like on v1.
        for tree in stale_cgroups.cgroup_directories(host, slice_names.path(request.name)):
            stale_cgroups.remove_tree(host, tree)
    found = unit_properties(host, request.name)
    if planned.reload and planned.changed and (found.get("NeedDaemonReload") or _is_still_loaded(found, planned)):
        bus.reload()
    return found


def _is_still_loaded(found: Mapping[str, Any], planned: Plan) -> bool:
    """Whether the unit is still loaded from what is gone: slices.target wants it until units are read again."""
    gone = {*planned.discard, *(each.path for each in planned.files if each.after is None)}
    return found.get("FragmentPath") in gone or not gone.isdisjoint(found.get("DropInPaths", ()))


def require_controllers(host: Host, request: Request) -> None:
    """ColocationError when the slice's cgroup is not in every controller that it is to be in."""
    if not host.live or not request.present or not request.controllers:
        return
    missing = missing_controllers(host, hierarchies(host), request.name, request.controllers)
    if missing:
        told = "; ".join(f"{name}: {reason}" for name, reason in sorted(missing.items()))
        raise ColocationError(f"{request.name} is not in every controller: {told}", "Leave these controllers out")
