# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply steps in their order, read the values back, and roll everything back if one of them fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence, Tuple, Union

from ..errors import ColocationError
from ..host import Clock
from ..systemd.dbus_values import Property
from .cgroup_files import Files, error_meaning
from .cgroup_state import Node, read_files, unit_interface
from .change_plan import Step, restoring_properties
from .codec import Backend, merge_properties, parse_texts, render_texts
from .knob import Kind
from .option_values import render_value
from .write_order import Operation, UnitCall, batch_steps, by_cgroup, rank_in_cgroup, split_independent

SYSTEMD_TIMEOUT = 5.0
"""Seconds; systemd replies to SetUnitProperties before it writes the files: src/core/cgroup.c, its realize queue."""
PAUSE = 0.05

Texts = Mapping[str, str]


Write = Union[UnitCall, Tuple[Step, str]]
"""A call to systemd, or the write of a file: its step and the name of the file."""


@dataclass(frozen=True)
class _Run:
    """``known`` has the original texts of the files, by cgroup; ``done`` grows with each change."""

    node: Node
    known: Mapping[str, Texts]
    files: Files
    done: list[Write]


class ApplyFailed(ColocationError):
    """A change that could not be made."""


def apply_steps(node: Node, steps: Sequence[Step], known: Mapping[str, Texts], clock: Clock) -> None:
    """Make the changes among ``steps``; ``known`` has the texts of the files, by cgroup, as they were read.

    ApplyFailed if a change is refused or does not take effect; earlier changes have been rolled back by then.
    """
    independent, dependent = split_independent(steps)
    run = _Run(node, known, Files(node.host), [])
    try:
        for group in independent:
            _write_and_verify(run, group, clock)
        early = [step for step in dependent if not step.overwritten]
        for operation in batch_steps(early):
            _apply_operation(run, operation)
        _verify(node, [step for step in early if step.checked], clock)
        _write_late(run, _late_steps(steps, dependent), clock)
    except ColocationError as error:
        message = f"{error.message.rstrip('.')}. {_restore_all(run)}"
        raise ApplyFailed(message, error.remedy, error.file) from error
    finally:
        run.files.close()


def _write_and_verify(run: _Run, steps: Sequence[Step], clock: Clock) -> None:
    """The raw writes of one cgroup. A file with exactly the written text needs no further check."""
    for step in sorted(steps, key=rank_in_cgroup):
        _write_texts(run, step)
    if not run.files.read_back_matches():
        _verify(run.node, steps, clock)


def _apply_operation(run: _Run, operation: Operation) -> None:
    """Write one knob's files or make one unit's call; the change is added to ``run.done`` for the rollback."""
    if isinstance(operation, UnitCall):
        _call(run, operation)
    else:
        _write_texts(run, operation)


def _late_steps(steps: Sequence[Step], dependent: Sequence[Step]) -> list[Step]:
    """The steps whose files systemd resets when it writes the requested properties, whether they change or not."""
    cgroups_written = {step.target.cgroup for step in dependent if step.backend is Backend.DBUS}
    return [step for step in steps if step.overwritten and (step in dependent or step.target.cgroup in cgroups_written)]


def _write_late(run: _Run, steps: Sequence[Step], clock: Clock) -> None:
    """Write after systemd has written the units; it does so before its next reply: src/core/manager.c manager_loop."""
    for step in steps:
        if run.node.bus is not None and step.target.unit is not None:
            run.node.bus.get(step.target.unit, unit_interface(step.target.unit), ())
        _write_texts(run, step)
    _verify(run.node, steps, clock)


def _write_texts(run: _Run, step: Step) -> None:
    for name, content in step.texts.items():
        _write(run, step, name, content)
        run.done.append((step, name))


def _call(run: _Run, call: UnitCall) -> None:
    steps_to_set = [step for step in call.steps if not step.restoring]
    properties = merge_properties(
        {step.knob.name: step.after for step in steps_to_set}, {step.knob.name: step.knob for step in steps_to_set}
    )
    _ask(run, call, [*(unit_property for step in call.steps for unit_property in step.restoring), *properties])
    run.done.append(call)


def _ask(run: _Run, call: UnitCall, properties: Sequence[Property]) -> None:
    """Set each property once, in this order: two knobs may share a property with the same value."""
    bus, target = run.node.bus, call.steps[0].target
    if bus is None or target.unit is None:
        raise ApplyFailed(f"{target.cgroup}: systemd is not available on this node")
    bus.set(target.unit, list(dict.fromkeys(properties)))


def _write(run: _Run, step: Step, name: str, text: str) -> None:
    hierarchies, cgroup = run.node.hierarchies, step.target.cgroup
    point = hierarchies.points[step.knob.controller(hierarchies.mode)]
    try:
        run.files.write(point, cgroup, name, text)
    except OSError as error:
        message = f"{step.knob.name}: writing {text!r} failed with {error_meaning(error)}"
        raise ApplyFailed(message, step.knob.note, f"{point}/{cgroup}/{name}") from error
    except ColocationError as error:
        raise ApplyFailed(f"{step.knob.name}: {error.message}", error.remedy, error.file) from error


def _verify(node: Node, steps: Sequence[Step], clock: Clock) -> None:
    """Check that every file has the expected value; wait for the files that systemd writes."""
    deadline = clock.monotonic() + SYSTEMD_TIMEOUT
    waiting = _differing(node, steps)
    while any(step.backend is Backend.DBUS for step, _value in waiting) and clock.monotonic() < deadline:
        clock.sleep(PAUSE)
        waiting = _differing(node, [step for step, _value in waiting])
    for step, current in waiting:
        action = "was requested from systemd" if step.backend is Backend.DBUS else "was written"
        expected, actual = render_value(step.knob, step.expected), render_value(step.knob, current)
        raise ApplyFailed(
            f"{step.knob.name} of {step.target.cgroup}: {expected} {action}, but the value is {actual}",
            "Check whether another program sets it, and see the log of systemd (journalctl -b _PID=1)",
        )


def _differing(node: Node, steps: Sequence[Step]) -> list[tuple[Step, object]]:
    """Steps whose files do not have the expected value, with the actual value."""
    differing: list[tuple[Step, object]] = []
    for group in by_cgroup(steps).values():
        texts = read_files(node, group[0].target, [step.knob for step in group])
        values = [(step, parse_texts(step.knob, node.mode, texts)) for step in group]
        differing += [(step, value) for step, value in values if value != step.expected]
    return differing


def _restore_all(run: _Run) -> str:
    """Roll back all changes, the last one first, and return a sentence about it."""
    errors = []
    for write in reversed(run.done):
        try:
            _restore(run, write)
        except ColocationError as error:
            errors.append(str(error))
    count = len(run.done)
    if errors:
        return f"Of {count} earlier write(s), these could not be rolled back: {'; '.join(errors)}"
    if count == 1:
        return "The earlier write was rolled back"
    return f"The {count} earlier writes were rolled back" if count else "Nothing had been written"


def _restore(run: _Run, write: Write) -> None:
    if isinstance(write, UnitCall):
        _ask(run, write, [unit_property for step in write.steps for unit_property in restoring_properties(step.stored)])
        return
    step, name = write
    reset_files = step.knob.reset_files(run.node.mode)
    if name in reset_files:
        return
    _write(run, step, name, _text_before(run, step, name))
    known = run.known[step.target.cgroup]
    for reset_file in reset_files if not step.before else ():
        _write(run, step, reset_file, known[reset_file])


def _text_before(run: _Run, step: Step, name: str) -> str:
    """The text that restores a file: its original text; for device limits, also lines that lift the new limits."""
    if step.knob.kind is Kind.DEVICES:
        return render_texts(step.knob, step.before, run.node.mode, step.texts).get(name, "")
    return run.known[step.target.cgroup].get(name, "")
