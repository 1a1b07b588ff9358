# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module systemd_slice in check mode and in a real run, and its result; for an image also its first boot."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ContextManager, Mapping

from ..cgroup import slice_names
from ..host import Host
from ..state.node_lock import node_lock, require_node_lock
from ..systemd.dbus_values import INFINITY
from . import managed_files, properties, unit_apply, unit_files, unit_plan, unit_request, unit_state
from .unit_files import RUNTIME_PATHS
from .unit_plan import Plan
from .unit_request import Request
from .unit_state import SliceState


def describe_first_boot(request: Request, state: SliceState, planned: Plan) -> tuple[str, ...]:
    """What the first boot of an image does, as lines in the order of the boot."""
    if not request.present:
        return ("%s: the collection does not start or change it" % request.name,)
    if not request.persistent:
        return ("%s: no change, because settings with persistent: false end at a boot" % request.name,)
    values = (
        ", ".join("%s=%s" % assignment for assignment in unit_files.assignments(_text(state, planned)))
        or "systemd's defaults"
    )
    path = state.locations.settings
    if state.locations.link is None:
        return ("%s, which the collection does not create, gets %s (%s)" % (request.name, values, path),)
    controller_unit = request.controller_unit
    lines = []
    if controller_unit is not None:
        lines.append("%s makes its cgroup in %s" % (controller_unit.unit, ", ".join(controller_unit.controllers)))
    before = " and before ".join(["slices.target", *request.before])
    lines.append("%s starts before %s with %s (%s)" % (request.name, before, values, path))
    return tuple(lines)


def _text(state: SliceState, planned: Plan) -> str:
    """The future content of the file with the settings."""
    contents = [change.after for change in planned.files if change.path == state.locations.settings]
    return (contents[0] if contents else state.content) or ""


CGROUP_ROOT = "/sys/fs/cgroup"
_PRESSURE = ("cpu", "memory", "io")


@dataclass(frozen=True)
class PreparedSlice:
    request: unit_request.Request
    state: unit_state.SliceState
    plan: unit_plan.Plan


def prepare(host: Host, parameters: Mapping[str, Any]) -> PreparedSlice:
    """The plan of check mode; nothing is changed. ColocationError if the change is not allowed or not possible."""
    request, state = observe_request(host, parameters)
    plan = unit_plan.plan_slice(request, state)
    managed_files.require_writable(host, plan.files, None if plan.link is None else state.locations.link)
    if plan.changed and host.live:
        require_node_lock(host)
    return PreparedSlice(request, state, plan)


def observe_request(host: Host, parameters: Mapping[str, Any]) -> tuple[unit_request.Request, unit_state.SliceState]:
    """The request, and the observed state of its slice."""
    request = unit_request.parse_request(host, parameters)
    return request, unit_state.observe(host, request)


def execute(host: Host, parameters: Mapping[str, Any]) -> tuple[PreparedSlice, Mapping[str, Any]]:
    """Plan and apply under the node's lock; returns the plan and the unit's properties afterwards.

    A plan without changes does not wait for the lock. LockHeld names the process that holds it for too long.
    """
    prepared = prepare(host, parameters)
    if not prepared.plan.changed:
        return prepared, apply_prepared(host, prepared)
    with slice_lock(host, f"systemd_slice of {prepared.request.name}"):
        prepared = prepare(host, parameters)
        return prepared, apply_prepared(host, prepared)


def slice_lock(host: Host, holder: str) -> ContextManager[None]:
    """The node's lock. An image gets no lock, because only files are written and no state directory is needed."""
    return node_lock(host, holder) if host.live else nullcontext()


def apply_prepared(host: Host, prepared: PreparedSlice) -> Mapping[str, Any]:
    """Apply the plan, and return the unit's D-Bus properties afterwards."""
    if prepared.plan.changed:
        return unit_apply.apply(host, prepared.request, prepared.state, prepared.plan)
    unit_apply.require_controllers(host, prepared.request)
    return prepared.state.unit


def to_result(host: Host, prepared: PreparedSlice, unit: Mapping[str, Any]) -> dict[str, Any]:
    """The module's return values, except ``changed`` and ``diff``."""
    group = unit.get("ControlGroup", "")
    boot = (
        {}
        if prepared.state.live
        else {"first_boot": list(describe_first_boot(prepared.request, prepared.state, prepared.plan))}
    )
    return {
        **boot,
        "properties": properties.readable_properties(unit),
        "status": status(host, unit),
        "control_group": group,
        "parents": list(slice_names.parents(prepared.request.name)),
        "unit_file": prepared.state.locations.settings,
    }


def status(host: Host, unit: Mapping[str, Any]) -> dict[str, Any]:
    """State and usage; None where systemd or the kernel has no value."""
    nanoseconds = _count(unit, "CPUUsageNSec")
    return {
        "active_state": unit.get("ActiveState"),
        "sub_state": unit.get("SubState"),
        "tasks": _count(unit, "TasksCurrent"),
        "memory": _count(unit, "MemoryCurrent"),
        "cpu_seconds": None if nanoseconds is None else nanoseconds / 1e9,
        "pressure": pressure(host, unit["ControlGroup"]) if unit.get("ControlGroup") else {},
    }


def pressure(host: Host, group: str) -> dict[str, Any]:
    """``{"cpu": {"some": {"avg10": 0.0, ...}}}``, see Documentation/accounting/psi.rst; only on v2 with PSI enabled."""
    result = {}
    for resource in _PRESSURE:
        try:
            lines = host.read(f"{CGROUP_ROOT}{group}/{resource}.pressure").splitlines()
        except OSError:
            continue
        result[resource] = {
            words[0]: {key: float(value) for key, value in (word.split("=") for word in words[1:])}
            for words in map(str.split, lines)
        }
    return result


def warnings(prepared: PreparedSlice) -> list[str]:
    """Warnings about foreign drop-ins of a slice that is removed."""
    if prepared.request.present or prepared.state.locations.link is None:
        return []
    directory = f"/{prepared.request.name}.d/"
    managed = tuple(f"{place}{directory}" for place in RUNTIME_PATHS)
    foreign = [
        drop_in.path
        for drop_in in prepared.state.drop_ins
        if directory in drop_in.path and not drop_in.path.startswith(managed)
    ]
    return [
        f"{path} is not managed by the collection and stays; remove it, or run systemctl revert {prepared.request.name}"
        for path in foreign
    ]


def _count(unit: Mapping[str, Any], name: str) -> int | None:
    count = unit.get(name)
    return None if count is None or count == INFINITY else int(count)
