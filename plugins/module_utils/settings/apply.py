# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying out steps in their order, reading back, and putting everything back when one of them fails."""

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
"""Seconds; systemd answers SetUnitProperties before it writes the files: src/core/cgroup.c, its realize queue."""
PAUSE = 0.05

Texts = Mapping[str, str]


Write = Union[UnitCall, Tuple[Step, str]]
"""A call, or the write of a file: its step and the name of the file."""


@dataclass(frozen=True)
class _Run:
    """``known`` has the texts of the files, by cgroup, as they were; ``done`` grows with each change."""

    node: Node
    known: Mapping[str, Texts]
    files: Files
    done: list[Write]


class ApplyFailed(ColocationError):
    """A change that could not be made."""


def apply_steps(node: Node, steps: Sequence[Step], known: Mapping[str, Texts], clock: Clock) -> None:
    """Make the changes among ``steps``; ``known`` has the texts of the files, by cgroup, as they were read.

    Failed when one is refused or does not show; those made before were put back then.
    """
    lone, others = split_independent(steps)
    run = _Run(node, known, Files(node.host), [])
    try:
        for own in lone:
            _write_and_verify(run, own, clock)
        early = [step for step in others if not step.late]
        for work in batch_steps(early):
            _apply_operation(run, work)
        _verify(node, [step for step in early if step.checked], clock)
        _write_late(run, _late_steps(steps, others), clock)
    except ColocationError as error:
        message = f"{error.message.rstrip('.')}. {_restore_all(run)}"
        raise ApplyFailed(message, error.remedy, error.file) from error
    finally:
        run.files.close()


def _write_and_verify(run: _Run, own: Sequence[Step], clock: Clock) -> None:
    """The raw writes of one cgroup. A file that says just what was written needs no second look."""
    for step in sorted(own, key=rank_in_cgroup):
        _write_texts(run, step)
    if not run.files.read_back_matches():
        _verify(run.node, own, clock)


def _apply_operation(run: _Run, work: Operation) -> None:
    """One knob's files or one unit's call; what takes it back is noted."""
    if isinstance(work, UnitCall):
        _call(run, work)
    else:
        _write_texts(run, work)


def _late_steps(steps: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    """The steps whose files systemd resets when it writes what was asked of it, whether they change or not."""
    asked = {step.target.cgroup for step in others if step.backend is Backend.DBUS}
    return [step for step in steps if step.late and (step in others or step.target.cgroup in asked)]


def _write_late(run: _Run, steps: Sequence[Step], clock: Clock) -> None:
    """When systemd has written the units: it does before it answers another call (src/core/manager.c manager_loop)."""
    for step in steps:
        if run.node.bus is not None and step.target.unit is not None:
            run.node.bus.get(step.target.unit, unit_interface(step.target.unit), ())
        _write_texts(run, step)
    _verify(run.node, steps, clock)


def _write_texts(run: _Run, step: Step) -> None:
    for name, text in step.texts.items():
        _write(run, step, name, text)
        run.done.append((step, name))


def _call(run: _Run, call: UnitCall) -> None:
    anew = [step for step in call.steps if not step.back]
    asked = merge_properties(
        {step.knob.name: step.after for step in anew}, {step.knob.name: step.knob for step in anew}
    )
    _ask(run, call, [*(each for step in call.steps for each in step.back), *asked])
    run.done.append(call)


def _ask(run: _Run, call: UnitCall, properties: Sequence[Property]) -> None:
    """No property twice with the same value, for two knobs may share one; the order stays."""
    bus, target = run.node.bus, call.steps[0].target
    if bus is None or target.unit is None:
        raise ApplyFailed(f"{target.cgroup}: there is no systemd to ask")
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
    """Every file says what it should; systemd's are waited for."""
    deadline = clock.monotonic() + SYSTEMD_TIMEOUT
    waiting = _differing(node, steps)
    while any(step.backend is Backend.DBUS for step, _found in waiting) and clock.monotonic() < deadline:
        clock.sleep(PAUSE)
        waiting = _differing(node, [step for step, _found in waiting])
    for step, found in waiting:
        asked = "systemd was asked for" if step.backend is Backend.DBUS else "was written"
        wanted, now = render_value(step.knob, step.expected), render_value(step.knob, found)
        raise ApplyFailed(
            f"{step.knob.name} of {step.target.cgroup}: {wanted} {asked}, and it is {now}",
            "See whether another program sets it, and the log of systemd (journalctl -b _PID=1)",
        )


def _differing(node: Node, steps: Sequence[Step]) -> list[tuple[Step, object]]:
    """Steps whose files do not say what is expected, with what they say."""
    differing: list[tuple[Step, object]] = []
    for own in by_cgroup(steps).values():
        found = read_files(node, own[0].target, [step.knob for step in own])
        values = [(step, parse_texts(step.knob, node.mode, found)) for step in own]
        differing += [(step, value) for step, value in values if value != step.expected]
    return differing


def _restore_all(run: _Run) -> str:
    """Put everything back, the last change first, and say so."""
    troubles = []
    for each in reversed(run.done):
        try:
            _restore(run, each)
        except ColocationError as error:
            troubles.append(str(error))
    count = len(run.done)
    if troubles:
        return f"Of {count} writes made before, these could not be put back: {'; '.join(troubles)}"
    return f"The {count} writes made before were put back" if count else "Nothing had been written"


def _restore(run: _Run, done: Write) -> None:
    if isinstance(done, UnitCall):
        _ask(run, done, [each for step in done.steps for each in restoring_properties(step.stored)])
        return
    step, name = done
    forgotten = step.knob.forgotten(run.node.mode)
    if name in forgotten:
        return
    _write(run, step, name, _text_before(run, step, name))
    known = run.known[step.target.cgroup]
    for other in forgotten if not step.before else ():
        _write(run, step, other, known[other])


def _text_before(run: _Run, step: Step, name: str) -> str:
    """What puts a file back: its text. Where that has a line for each device, those that came have to be lifted."""
    if step.knob.kind is Kind.DEVICES:
        return render_texts(step.knob, step.before, run.node.mode, step.texts).get(name, "")
    return run.known[step.target.cgroup].get(name, "")
