# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the changes that bring a slice to its desired state, as a pure function of its observed state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ..errors import ColocationError
from . import unit_files
from .managed_files import FileChange
from .properties import RULES, Setting, default_setting, parse_assignments, to_readable
from .unit_request import Request
from .unit_state import SliceState


@dataclass(frozen=True)
class Plan:
    """Changes in the order of execution, except ``reload``: for file changes that a D-Bus call cannot apply.

    ``push``: properties for one SetUnitProperties call. ``discard``: runtime drop-ins to delete with the slice.
    """

    files: tuple[FileChange, ...] = ()
    link: bool | None = None
    push: tuple[Setting, ...] = ()
    reload: bool = False
    start: bool = False
    stop: bool = False
    controller_unit: bool = False
    discard: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(
            self.files
            or self.link is not None
            or self.push
            or self.start
            or self.stop
            or self.controller_unit
            or self.discard
        )


def plan_slice(request: Request, state: SliceState) -> Plan:
    """The plan of a request; ColocationError if the change is not allowed or not possible."""
    return _plan_presence(request, state) if request.present else _plan_absence(request, state)


def differing_settings(desired: tuple[Setting, ...], unit: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings that differ from the unit's D-Bus properties."""
    return tuple(setting for setting in desired if not setting.holds(unit))


def _to_push(setting: Setting, state: SliceState) -> bool:
    return setting.value.name in state.kernel_values or not setting.holds(state.unit)


def dropped_settings(request: Request, state: SliceState) -> tuple[Setting, ...]:
    """Settings in the managed file that are no longer requested, with the values of foreign files or defaults."""
    names = {setting.name for setting in request.settings} if request.present else set()
    before = parse_assignments(unit_files.assignments(state.content or ""), state.machine)
    known = sorted(name for name in before if name not in names and RULES[name].dbus in state.unit)
    return _without_us(request, state, known)


def _without_us(request: Request, state: SliceState, names: Sequence[str]) -> tuple[Setting, ...]:
    """The values of these properties without the managed file and without pushed values."""
    foreign_texts = [
        drop_in.text
        for drop_in in unit_files.remaining_drop_ins(request.name, state.locations.settings, state.drop_ins, names)
    ]
    lines = (line for text in (state.fragment, *foreign_texts) for line in unit_files.assignments(text))
    remaining = parse_assignments(lines, state.machine)
    return tuple(remaining.get(name) or default_setting(name) for name in names)


def _plan_presence(request: Request, state: SliceState) -> Plan:
    pushed = frozenset(_pushed_by_us(request, state))
    target = unit_files.DropInTarget(request.settings, state.locations.settings, not request.persistent, pushed)
    unit_files.require_no_overriding_drop_in(request.name, target, state.drop_ins, state.machine)
    link = None
    if state.locations.link is not None and state.linked != request.persistent:
        link = request.persistent
    if not state.live:
        return Plan(files=state.changes, link=link)
    targets = (*supported_settings(request, state.unit), *dropped_settings(request, state))
    has_unit_file = state.locations.link is not None
    starts = has_unit_file and not state.active
    # A unit that is loaded from the managed unit file has the values when it starts.
    pushes = state.active or (has_unit_file and not request.persistent)
    return Plan(
        files=state.changes,
        link=link,
        push=tuple(setting for setting in targets if _to_push(setting, state)) if pushes else (),
        reload=_needs_reload(state),
        start=starts,
        controller_unit=_controller_unit_is_missing(request, state),
    )


def _pushed_by_us(request: Request, state: SliceState) -> Iterable[str]:
    """Names of properties whose runtime values the collection may replace.

    On a foreign slice a runtime value is foreign until the managed drop-in sets the property, and must be restored. A
    runtime value without effect, such as the one that restoring a setting creates, may be replaced as well.
    """
    names = [setting.name for setting in request.settings]
    if state.locations.link is not None or not request.persistent:
        return names
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins, names)
    texts = [state.content or "", *(drop_in.text for drop_in in state.drop_ins if drop_in.path in pushed)]
    managed, *runtime = (parse_assignments(unit_files.assignments(text), state.machine) for text in texts)
    base = {setting.name: setting.value for setting in _without_us(request, state, names)}
    ineffective = {
        name for assigned in runtime for name, setting in assigned.items() if base.get(name) == setting.value
    }
    return {*managed, *ineffective}


def _controller_unit_is_missing(request: Request, state: SliceState) -> bool:
    controller_unit = request.controller_unit
    if controller_unit is None or not request.persistent or state.locations.link is None or not state.active:
        return False
    return any(name in state.missing_controllers for name in controller_unit.controllers)


def _needs_reload(state: SliceState) -> bool:
    """Whether systemd has already read a managed file that changes in more than values a D-Bus call can set."""
    return any(_change_needs_reload(change, state) for change in state.changes)


def _change_needs_reload(change: FileChange, state: SliceState) -> bool:
    if change.before is None:
        return False
    if not state.active or change.after is None:
        return True
    return unit_files.without_values(change.before) != unit_files.without_values(change.after)


def supported_settings(request: Request, unit: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings that this systemd supports; ColocationError if it does not support an explicit property."""
    for setting in request.settings:
        if setting.value.name not in unit and setting.name in request.named:
            raise ColocationError(
                f"systemd on this node has no property {setting.name}; systemd {RULES[setting.name].since} added it",
                "Remove the property for this node",
            )
    return tuple(setting for setting in request.settings if setting.value.name in unit)


def _plan_absence(request: Request, state: SliceState) -> Plan:
    if state.locations.link is None:
        return _plan_restore(request, state)
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins)
    if state.active:
        _require_empty(request, state)
    link = False if state.linked else None
    return Plan(files=state.changes, link=link, stop=state.active, discard=pushed, reload=state.live)


def _plan_restore(request: Request, state: SliceState) -> Plan:
    """The plan for a foreign slice: the slice stays, and managed settings are restored."""
    resets = dropped_settings(request, state)
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins, [setting.name for setting in resets])
    push = differing_settings(resets, state.unit) if state.active else ()
    return Plan(files=state.changes, push=push, discard=pushed, reload=bool(state.changes) and state.live)


def _require_empty(request: Request, state: SliceState) -> None:
    name = request.name
    if state.processes:
        raise ColocationError(
            f"{name} cannot be removed: {_describe_processes(state.processes)} in it",
            f"Stop its processes (systemd-cgls --unit {name}), or move them to another slice",
        )
    if state.nested:
        raise ColocationError(
            f"{name} cannot be removed: {', '.join(state.nested[:3])} is in it and would be stopped",
            "Remove the units in it first",
        )


def render_diff(request: Request, state: SliceState, planned: Plan) -> list[dict[str, str]]:
    """One entry for each file and one for the values of the unit, in the format of Ansible's callbacks."""
    entries = [
        {
            "before_header": change.path,
            "after_header": change.path,
            "before": change.before or "",
            "after": change.after or "",
        }
        for change in planned.files
    ]
    before, after = _values(state, planned)
    if before != after:
        entries.append({"before_header": request.name, "after_header": request.name, "before": before, "after": after})
    return entries


def _values(state: SliceState, planned: Plan) -> tuple[str, str]:
    current = str(state.unit.get("ActiveState", "")) or "unknown"
    later = "active" if planned.start else "inactive" if planned.stop else current
    values = {**state.unit, **state.kernel_values}
    before = {setting.value.name: to_readable(values.get(setting.value.name)) for setting in planned.push}
    after = {setting.value.name: to_readable(setting.value.value) for setting in planned.push}
    return _lines({"ActiveState": current, **before}), _lines({"ActiveState": later, **after})


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _describe_processes(processes: Sequence[int]) -> str:
    remaining = len(processes) - 1
    return f"process {processes[0]} and {remaining} more are" if remaining else f"process {processes[0]} is"
