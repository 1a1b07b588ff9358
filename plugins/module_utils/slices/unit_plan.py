# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done so that a slice is as asked for: a pure reading of its state."""

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
    """In the order in which it is done, but for ``reload``: that is for what the bus cannot carry to a loaded unit.

    ``push``: properties for one SetUnitProperties call. ``discard``: runtime drop-ins that go with the slice.
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
    """ColocationError when it must not or cannot be done."""
    return _plan_presence(request, state) if request.present else _plan_absence(request, state)


def differing_settings(wanted: tuple[Setting, ...], unit: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings that the unit's D-Bus properties do not show yet."""
    return tuple(each for each in wanted if not each.holds(unit))


def _to_push(setting: Setting, state: SliceState) -> bool:
    return setting.value.name in state.kernel_values or not setting.holds(state.unit)


def dropped_settings(request: Request, state: SliceState) -> tuple[Setting, ...]:
    """What our file set so far and is not asked for any more: as the files of others say, else systemd's defaults."""
    names = {each.name for each in request.settings} if request.present else set()
    before = parse_assignments(unit_files.assignments(state.own or ""), state.machine)
    known = sorted(name for name in before if name not in names and RULES[name].dbus in state.unit)
    return _without_us(request, state, known)


def _without_us(request: Request, state: SliceState, names: Sequence[str]) -> tuple[Setting, ...]:
    """What these properties are without our file and without what was pushed of them."""
    others = [
        each.text for each in unit_files.remaining_drop_ins(request.name, state.where.settings, state.drop_ins, names)
    ]
    lines = (line for text in (state.fragment, *others) for line in unit_files.assignments(text))
    left = parse_assignments(lines, state.machine)
    return tuple(left.get(name) or default_setting(name) for name in names)


def _plan_presence(request: Request, state: SliceState) -> Plan:
    pushed = frozenset(_pushed_by_us(request, state))
    target = unit_files.DropInTarget(request.settings, state.where.settings, not request.persistent, pushed)
    unit_files.require_none_stronger(request.name, target, state.drop_ins, state.machine)
    link = None
    if state.where.link is not None and state.linked != request.persistent:
        link = request.persistent
    if not state.live:
        return Plan(files=state.changes, link=link)
    targets = (*supported_settings(request, state.unit), *dropped_settings(request, state))
    own = state.where.link is not None
    starts = own and not state.active
    # A unit that is loaded from our unit file carries the values by itself when it starts.
    pushes = state.active or (own and not request.persistent)
    return Plan(
        files=state.changes,
        link=link,
        push=tuple(each for each in targets if _to_push(each, state)) if pushes else (),
        reload=_needs_reload(state),
        start=starts,
        controller_unit=_controller_unit_is_missing(request, state),
    )


def _pushed_by_us(request: Request, state: SliceState) -> Iterable[str]:
    """On somebody else's slice a runtime value is theirs until our drop-in sets the property: it has to come back.

    One that says what would be without it, as a setting that was given back leaves it, comes back anyway.
    """
    names = [each.name for each in request.settings]
    if state.where.link is not None or not request.persistent:
        return names
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins, names)
    texts = [state.own or "", *(each.text for each in state.drop_ins if each.path in pushed)]
    ours, *said = (parse_assignments(unit_files.assignments(text), state.machine) for text in texts)
    base = {each.name: each.value for each in _without_us(request, state, names)}
    idle = {name for found in said for name, each in found.items() if base.get(name) == each.value}
    return {*ours, *idle}


def _controller_unit_is_missing(request: Request, state: SliceState) -> bool:
    helper = request.controller_unit
    if helper is None or not request.persistent or state.where.link is None or not state.active:
        return False
    return any(name in state.absent for name in helper.controllers)


def _needs_reload(state: SliceState) -> bool:
    """Whether systemd has read a file of ours before, and what changes there is more than values on the bus."""
    return any(_change_needs_reload(each, state) for each in state.changes)


def _change_needs_reload(change: FileChange, state: SliceState) -> bool:
    if change.before is None:
        return False
    if not state.active or change.after is None:
        return True
    return unit_files.without_values(change.before) != unit_files.without_values(change.after)


def supported_settings(request: Request, unit: Mapping[str, Any]) -> tuple[Setting, ...]:
    """The settings that this systemd knows; ColocationError when one that was asked for is none of them."""
    for each in request.settings:
        if each.value.name not in unit and each.name in request.named:
            raise ColocationError(
                f"the systemd of this node has no property {each.name}; it came with systemd {RULES[each.name].since}",
                "Leave the property out for this node",
            )
    return tuple(each for each in request.settings if each.value.name in unit)


def _plan_absence(request: Request, state: SliceState) -> Plan:
    if state.where.link is None:
        return _plan_restore(request, state)
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins)
    if state.active:
        _require_empty(request, state)
    link = False if state.linked else None
    return Plan(files=state.changes, link=link, stop=state.active, discard=pushed, reload=state.live)


def _plan_restore(request: Request, state: SliceState) -> Plan:
    """The slice is somebody else's and stays; what we set there goes back to what it is without us."""
    resets = dropped_settings(request, state)
    pushed = unit_files.runtime_drop_ins(request.name, state.drop_ins, [each.name for each in resets])
    push = differing_settings(resets, state.unit) if state.active else ()
    return Plan(files=state.changes, push=push, discard=pushed, reload=bool(state.changes) and state.live)


def _require_empty(request: Request, state: SliceState) -> None:
    name = request.name
    if state.processes:
        raise ColocationError(
            f"{name} cannot be removed: {_describe_processes(state.processes)} in it",
            f"Stop what runs there (systemd-cgls --unit {name}), or move it to another slice",
        )
    if state.nested:
        raise ColocationError(
            f"{name} cannot be removed: {', '.join(state.nested[:3])} is in it and would be stopped",
            "Remove that first",
        )


def render_diff(request: Request, state: SliceState, planned: Plan) -> list[dict[str, str]]:
    """One entry a file, and one for the values of the unit itself, as Ansible's callbacks show them."""
    entries = [
        {"before_header": each.path, "after_header": each.path, "before": each.before or "", "after": each.after or ""}
        for each in planned.files
    ]
    before, after = _values(state, planned)
    if before != after:
        entries.append({"before_header": request.name, "after_header": request.name, "before": before, "after": after})
    return entries


def _values(state: SliceState, planned: Plan) -> tuple[str, str]:
    present = str(state.unit.get("ActiveState", "")) or "unknown"
    then = "active" if planned.start else "inactive" if planned.stop else present
    held = {**state.unit, **state.kernel_values}
    before = {each.value.name: to_readable(held.get(each.value.name)) for each in planned.push}
    after = {each.value.name: to_readable(each.value.value) for each in planned.push}
    return _lines({"ActiveState": present, **before}), _lines({"ActiveState": then, **after})


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _describe_processes(processes: Sequence[int]) -> str:
    others = len(processes) - 1
    return f"process {processes[0]} and {others} more are" if others else f"process {processes[0]} is"
