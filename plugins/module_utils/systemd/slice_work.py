# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd_slice from end to end: ``prepared`` looks and plans, ``carried_out`` acts, ``answer`` tells."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ContextManager, Mapping

from ..cgroup import slices
from ..host import Host
from ..transaction.turn import require_turn, turn
from . import first_boot, property_text, slice_apply, slice_plan, slice_request, slice_state, slice_writing
from .drop_ins import PUSHED
from .property import INFINITY

CGROUP_ROOT = "/sys/fs/cgroup"
_PRESSURE = ("cpu", "memory", "io")


@dataclass(frozen=True)
class Work:
    request: slice_request.Request
    state: slice_state.SliceState
    plan: slice_plan.Plan


def prepared(host: Host, parameters: Mapping[str, Any]) -> Work:
    """Nothing is changed; ColocationError when it must not or cannot be done."""
    request, state = looked_at(host, parameters)
    plan = slice_plan.plan(request, state)
    slice_writing.require_writable(host, plan.files, None if plan.link is None else state.where.link)
    if plan.changed and host.live:
        require_turn(host)
    return Work(request, state, plan)


def looked_at(host: Host, parameters: Mapping[str, Any]) -> tuple[slice_request.Request, slice_state.SliceState]:
    """What is asked for, and the slice as it is."""
    request = slice_request.request(host, parameters)
    return request, slice_state.observe(host, request)


def done(host: Host, parameters: Mapping[str, Any]) -> tuple[Work, Mapping[str, Any]]:
    """Looked at, and carried out while nobody else is at work on the node; with the unit's properties afterwards.

    A slice that is as it is to be waits for nobody. LockHeld names who is at work for too long.
    """
    work = prepared(host, parameters)
    if not work.plan.changed:
        return work, carried_out(host, work)
    with turn_of(host, f"systemd_slice of {work.request.name}"):
        work = prepared(host, parameters)
        return work, carried_out(host, work)


def turn_of(host: Host, holder: str) -> ContextManager[None]:
    """The node's lock; an image, of which files alone are written, gets no folder of ours for it."""
    return turn(host, holder) if host.live else nullcontext()


def carried_out(host: Host, work: Work) -> Mapping[str, Any]:
    """The unit's D-Bus properties afterwards."""
    if work.plan.changed:
        return slice_apply.apply(host, work.request, work.state, work.plan)
    slice_apply.require_controllers(host, work.request)
    return work.state.unit


def answer(host: Host, work: Work, unit: Mapping[str, Any]) -> dict[str, Any]:
    """What the module returns beside ``changed`` and ``diff``."""
    group = unit.get("ControlGroup", "")
    boot = {} if work.state.live else {"first_boot": list(first_boot.first_boot(work.request, work.state, work.plan))}
    return {
        **boot,
        "properties": property_text.properties(unit),
        "status": status(host, unit),
        "control_group": group,
        "parents": list(slices.parents(work.request.name)),
        "unit_file": work.state.where.settings,
    }


def status(host: Host, unit: Mapping[str, Any]) -> dict[str, Any]:
    """State and usage; None where systemd or the kernel does not count."""
    nanoseconds = _counted(unit, "CPUUsageNSec")
    return {
        "active_state": unit.get("ActiveState"),
        "sub_state": unit.get("SubState"),
        "tasks": _counted(unit, "TasksCurrent"),
        "memory": _counted(unit, "MemoryCurrent"),
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


def warnings(work: Work) -> list[str]:
    """Drop-ins of somebody else for a slice that is removed."""
    if work.request.present or work.state.where.link is None:
        return []
    folder = f"/{work.request.name}.d/"
    ours = tuple(f"{place}{folder}" for place in PUSHED)
    left = [each.path for each in work.state.drop_ins if folder in each.path and not each.path.startswith(ours)]
    return [f"{path} is not ours and stays; remove it, or run systemctl revert {work.request.name}" for path in left]


def _counted(unit: Mapping[str, Any], name: str) -> int | None:
    found = unit.get(name)
    return None if found is None or found == INFINITY else int(found)
