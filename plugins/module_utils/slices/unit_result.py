# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd_slice from end to end: a check, a run, and the result; for an image, what its first boot does."""

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
    """Lines for the person who prepares the image, in the order of the boot."""
    if not request.present:
        return ("%s: nothing of the collection starts it or sets anything on it" % request.name,)
    if not request.persistent:
        return ("%s: nothing, because persistent is false and a boot forgets it" % request.name,)
    values = ", ".join("%s=%s" % each for each in unit_files.assignments(_text(state, planned))) or "systemd's defaults"
    path = state.where.settings
    if state.where.link is None:
        return ("%s, which somebody else makes, gets %s (%s)" % (request.name, values, path),)
    helper = request.controller_unit
    lines = []
    if helper is not None:
        lines.append("%s makes its cgroup in %s" % (helper.unit, ", ".join(helper.controllers)))
    before = " and before ".join(["slices.target", *request.before])
    lines.append("%s starts before %s with %s (%s)" % (request.name, before, values, path))
    return tuple(lines)


def _text(state: SliceState, planned: Plan) -> str:
    """Of the file that has the settings, as it then is."""
    written = [each.after for each in planned.files if each.path == state.where.settings]
    return (written[0] if written else state.own) or ""


CGROUP_ROOT = "/sys/fs/cgroup"
_PRESSURE = ("cpu", "memory", "io")


@dataclass(frozen=True)
class PreparedSlice:
    request: unit_request.Request
    state: unit_state.SliceState
    plan: unit_plan.Plan


def prepare(host: Host, parameters: Mapping[str, Any]) -> PreparedSlice:
    """Nothing is changed; ColocationError when it must not or cannot be done."""
    request, state = observe_request(host, parameters)
    plan = unit_plan.plan_slice(request, state)
    managed_files.require_writable(host, plan.files, None if plan.link is None else state.where.link)
    if plan.changed and host.live:
        require_node_lock(host)
    return PreparedSlice(request, state, plan)


def observe_request(host: Host, parameters: Mapping[str, Any]) -> tuple[unit_request.Request, unit_state.SliceState]:
    """What is asked for, and the slice as it is."""
    request = unit_request.parse_request(host, parameters)
    return request, unit_state.observe(host, request)


def execute(host: Host, parameters: Mapping[str, Any]) -> tuple[PreparedSlice, Mapping[str, Any]]:
    """Looked at, and carried out while nobody else is at work on the node; with the unit's properties afterwards.

    A slice that is as it is to be waits for nobody. LockHeld names who is at work for too long.
    """
    work = prepare(host, parameters)
    if not work.plan.changed:
        return work, apply_prepared(host, work)
    with slice_lock(host, f"systemd_slice of {work.request.name}"):
        work = prepare(host, parameters)
        return work, apply_prepared(host, work)


def slice_lock(host: Host, holder: str) -> ContextManager[None]:
    """The node's lock; an image, of which files alone are written, gets no folder of ours for it."""
    return node_lock(host, holder) if host.live else nullcontext()


def apply_prepared(host: Host, work: PreparedSlice) -> Mapping[str, Any]:
    """The unit's D-Bus properties afterwards."""
    if work.plan.changed:
        return unit_apply.apply(host, work.request, work.state, work.plan)
    unit_apply.require_controllers(host, work.request)
    return work.state.unit


def to_result(host: Host, work: PreparedSlice, unit: Mapping[str, Any]) -> dict[str, Any]:
    """What the module returns beside ``changed`` and ``diff``."""
    group = unit.get("ControlGroup", "")
    boot = {} if work.state.live else {"first_boot": list(describe_first_boot(work.request, work.state, work.plan))}
    return {
        **boot,
        "properties": properties.readable_properties(unit),
        "status": status(host, unit),
        "control_group": group,
        "parents": list(slice_names.parents(work.request.name)),
        "unit_file": work.state.where.settings,
    }


def status(host: Host, unit: Mapping[str, Any]) -> dict[str, Any]:
    """State and usage; None where systemd or the kernel does not count."""
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
    """``{"cpu": {"some": {"avg10": 0.0, ...}}}`` as Documentation/accounting/psi.rst has it; v2 with PSI on."""
    found = {}
    for resource in _PRESSURE:
        try:
            lines = host.read(f"{CGROUP_ROOT}{group}/{resource}.pressure").splitlines()
        except OSError:
            continue
        found[resource] = {
            words[0]: {key: float(value) for key, value in (word.split("=") for word in words[1:])}
            for words in map(str.split, lines)
        }
    return found


def warnings(work: PreparedSlice) -> list[str]:
    """Drop-ins of somebody else for a slice that is removed."""
    if work.request.present or work.state.where.link is None:
        return []
    folder = f"/{work.request.name}.d/"
    ours = tuple(f"{place}{folder}" for place in RUNTIME_PATHS)
    left = [each.path for each in work.state.drop_ins if folder in each.path and not each.path.startswith(ours)]
    return [f"{path} is not ours and stays; remove it, or run systemctl revert {work.request.name}" for path in left]


def _count(unit: Mapping[str, Any], name: str) -> int | None:
    found = unit.get(name)
    return None if found is None or found == INFINITY else int(found)
