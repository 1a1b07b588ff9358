# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying a slice's plan out, and reading back what came of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Mapping

from ..cgroup import slices
from ..cgroup.hierarchy import hierarchies
from ..errors import ColocationError
from ..host import Host
from ..transaction import stale_cgroups
from . import cpuset_release, drop_ins
from .bus import Bus
from .companion import absent
from .properties import calls
from .property import Property
from .slice_plan import Plan, differing, supported
from .slice_request import Request
from .slice_state import SliceState, unit_properties
from .slice_writing import discard, written


def apply(host: Host, request: Request, state: SliceState, planned: Plan) -> Mapping[str, Any]:
    """The unit's properties afterwards. After an error files and values are what they were."""
    if planned.stop:
        Bus(host).stop(request.name)
    target = state.where.settings if planned.link else None
    with written(host, planned.files, None if planned.link is None else state.where.link, target):
        if not state.live:
            return {}
        if not request.present:
            return _removed(host, request, planned)
        try:
            return _realized(host, request, state, planned)
        except ColocationError:
            _take_back(host, request, state, planned)
            raise


def _realized(host: Host, request: Request, state: SliceState, planned: Plan) -> Mapping[str, Any]:
    bus = Bus(host)
    if planned.reload:
        bus.reload()
    if planned.push:
        bus.set(request.name, calls(planned.push))
    if planned.start:
        bus.start(request.name)
    if planned.companion and request.companion:
        bus.start(request.companion.unit)
    found = unit_properties(host, request.name)
    found = _settled(host, request, found) if planned.start or state.active else found
    cpuset_release.release(host, request.name, planned.push)
    require_controllers(host, request)
    return found


def _take_back(host: Host, request: Request, state: SliceState, planned: Plan) -> None:
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
        left = drop_ins.pushed(request.name, drop_ins.read(host, request.name))
        discard(host, set(left) - set(drop_ins.pushed(request.name, state.drop_ins)))


def _settled(host: Host, request: Request, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values of an earlier life of the unit, or of a file that systemd has not read again, are pushed aside."""
    missing = differing(supported(request, found), found)
    if not missing:
        return found
    Bus(host).set(request.name, calls(missing))
    found = unit_properties(host, request.name)
    missing = differing(supported(request, found), found)
    if missing:
        raise ColocationError(
            f"systemd does not keep {', '.join(each.lines[-1] for each in missing)} for {request.name}",
            f"See journalctl --unit {request.name} and systemctl show {request.name} on the node",
        )
    return found


def _removed(host: Host, request: Request, planned: Plan) -> Mapping[str, Any]:
    bus = Bus(host)
    if planned.push:
        bus.set(request.name, calls(planned.push))
    # The call leaves drop-ins of its own, which would hide what others set later.
    again = drop_ins.pushed(request.name, drop_ins.read(host, request.name), [each.name for each in planned.push])
    discard(host, {*planned.discard, *again})
    if planned.stop:
        # systemd knows nothing of cpuset, hugetlb and the like on v1.
        for tree in stale_cgroups.trees(host, slices.path(request.name)):
            stale_cgroups.remove_tree(host, tree)
    found = unit_properties(host, request.name)
    if planned.reload and planned.changed and (found.get("NeedDaemonReload") or _remembered(found, planned)):
        bus.reload()
    return found


def _remembered(found: Mapping[str, Any], planned: Plan) -> bool:
    """Whether the unit is still loaded from what is gone: slices.target wants it until units are read again."""
    gone = {*planned.discard, *(each.path for each in planned.files if each.after is None)}
    return found.get("FragmentPath") in gone or not gone.isdisjoint(found.get("DropInPaths", ()))


def require_controllers(host: Host, request: Request) -> None:
    """ColocationError when the slice's cgroup is not in every controller that it is to be in."""
    if not host.live or not request.present or not request.controllers:
        return
    missing = absent(host, hierarchies(host), request.name, request.controllers)
    if missing:
        told = "; ".join(f"{name}: {reason}" for name, reason in sorted(missing.items()))
        raise ColocationError(f"{request.name} is not in every controller: {told}", "Leave these controllers out")
