# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying out steps in their order, reading back, and putting everything back when one of them fails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Callable, Iterator, Mapping, Sequence, Union

from ..errors import ColocationError
from ..systemd.property import Property
from ..transaction.clock import Clock
from . import kernel_files
from .conversion import Backend, reading, texts, together
from .knob import Kind
from .observe import Node, read_files
from .ordering import ordered
from .plan import Step, given_back
from .shown import shown

PATIENCE = 5.0
"""Seconds; systemd answers SetUnitProperties before it writes the files: src/core/cgroup.c, its realize queue."""
PAUSE = 0.05

PARTNERS = {
    "cpu_burst": ("cpu_quota", "cpu_period"),
    "cpu_idle": ("cpu_weight",),
    "cpuset_partition": ("cpuset_cpus",),
    "memory_swap_max": ("memory_max",),
}
"""Raw writes that ``ordered`` puts before or behind a property of the same unit for a reason."""

Texts = Mapping[str, str]
Undo = Callable[[], None]


@dataclass(frozen=True)
class Call:
    """All properties of one unit, set in one call."""

    steps: tuple[Step, ...]


Work = Union[Step, Call]


@dataclass(frozen=True)
class _Run:
    """``current`` has the texts of the files, by cgroup, as they are by now; ``undos`` grows with each change."""

    node: Node
    current: dict[str, dict[str, str]]
    folders: kernel_files.Folders
    undos: list[Undo]


class Failed(ColocationError):
    """A change that could not be made."""


def carry_out(node: Node, steps: Sequence[Step], known: Mapping[str, Texts], clock: Clock) -> None:
    """Make the changes among ``steps``; ``known`` has the texts of the files, by cgroup, as they were read.

    Failed when one is refused or does not show; those made before were put back then.
    """
    wanted = [step for step in steps if step.changed]
    run = _Run(node, {cgroup: dict(each) for cgroup, each in known.items()}, kernel_files.Folders(node.host), [])
    try:
        for work in arranged(wanted):
            _do(run, work)
        _prove(node, [step for step in wanted if step.checked], clock)
    except ColocationError as error:
        message = f"{error.message.rstrip('.')}. {_undone(run.undos)}"
        raise Failed(message, error.remedy, error.file) from error
    finally:
        run.folders.close()


def arranged(steps: Sequence[Step]) -> list[Work]:
    """In the order of ``ordering.ordered``, the properties of one unit together.

    Cgroups none of which is in another have nothing to do with each other: they are done one after the other.
    """
    of_cgroup: dict[str, list[Step]] = {}
    for step in steps:
        of_cgroup.setdefault(step.target.cgroup, []).append(step)
    if any(above in of_cgroup for cgroup in of_cgroup for above in _above(cgroup)):
        return _arranged(steps)
    return [work for own in of_cgroup.values() for work in _arranged(own)]


def _above(cgroup: str) -> Iterator[str]:
    while "/" in cgroup:
        cgroup = cgroup.rpartition("/")[0]
        yield cgroup


def _arranged(steps: Sequence[Step]) -> list[Work]:
    by_key = {(step.target.cgroup, step.knob.name): step for step in steps}
    in_order = [by_key[each.cgroup, each.knob] for each in ordered([step.write for step in steps])]
    if all(step.backend is Backend.FILE for step in steps):
        return [*in_order]
    work: list[Work] = []
    done: set[str] = set()
    for step in in_order:
        own = [each for each in in_order if each.target.cgroup == step.target.cgroup]
        if step.backend is Backend.FILE and not _partners(step, own):
            work.append(step)
        elif step.target.cgroup not in done:
            done.add(step.target.cgroup)
            work += _around_call(own)
    return work


def _partners(step: Step, own: Sequence[Step]) -> list[Step]:
    """The properties of the same unit that the write of a file must not be on the wrong side of."""
    names = PARTNERS.get(step.knob.name, ())
    return [each for each in own if each.backend is Backend.DBUS and each.knob.name in names]


def _around_call(own: Sequence[Step]) -> list[Work]:
    partnered = [each for each in own if each.backend is Backend.FILE and _partners(each, own)]
    first = [each for each in partnered if own.index(each) < own.index(_partners(each, own)[0])]
    then = [each for each in partnered if each not in first]
    return [*first, Call(tuple(each for each in own if each.backend is Backend.DBUS)), *then]


def _do(run: _Run, work: Work) -> None:
    """One knob's files or one unit's call; what takes it back is noted."""
    if isinstance(work, Call):
        _call(run, work)
        return
    own, mode = run.current[work.target.cgroup], run.node.mode
    for name, text in _new_texts(work, mode, own).items():
        before = _texts_before(work, mode, name, own)
        _write(run, work, name, text)
        run.undos.append(partial(_write, run, work, name, before))
        own[name] = text


def _new_texts(step: Step, mode: str, current: Texts) -> dict[str, str]:
    return dict(step.texts) if step.texts is not None else texts(step.knob, step.after, mode, current)


def _texts_before(step: Step, mode: str, name: str, current: Texts) -> str:
    """What puts a file back: its text, but for limits of devices, where those that came have to be lifted."""
    if step.knob.kind is Kind.DEVICES:
        return texts(step.knob, step.before, mode, current).get(name, "")
    return current.get(name, "")


def _call(run: _Run, call: Call) -> None:
    bus, unit = run.node.bus, call.steps[0].target.unit
    if bus is None or unit is None:
        raise Failed(f"{call.steps[0].target.cgroup}: there is no systemd to ask")
    anew = [step for step in call.steps if not step.back]
    asked = together({step.knob.name: step.after for step in anew}, {step.knob.name: step.knob for step in anew})
    stored = [each for step in call.steps for each in given_back(step.stored)]
    bus.set(unit, _once([*(each for step in call.steps for each in step.back), *asked]))
    run.undos.append(partial(bus.set, unit, _once(stored)))
    own = run.current[call.steps[0].target.cgroup]
    for step in call.steps:
        if step.checked:
            own.update(texts(step.knob, step.expected, run.node.mode, own))


def _once(properties: Sequence[Property]) -> list[Property]:
    """None twice the same, for two knobs may share one; the order stays."""
    return list(dict.fromkeys(properties))


def _write(run: _Run, step: Step, name: str, text: str) -> None:
    point = run.node.hierarchies.points[step.knob.controller(run.node.mode)]
    place = f"{point}/{step.target.cgroup}/{name}"
    folder = run.folders.get(point, step.target.cgroup)
    if folder is None:
        raise Failed(f"{step.knob.name}: the cgroup is gone", "Run this again", place)
    try:
        kernel_files.write(folder, name, text)
    except OSError as error:
        meaning = kernel_files.meaning(error)
        raise Failed(f"{step.knob.name}: writing {text!r} failed with {meaning}", step.knob.note, place) from error


def _prove(node: Node, steps: Sequence[Step], clock: Clock) -> None:
    """Every file says what it should; systemd's are waited for."""
    deadline = clock.monotonic() + PATIENCE
    waiting = _differing(node, steps)
    while any(step.backend is Backend.DBUS for step, _found in waiting) and clock.monotonic() < deadline:
        clock.sleep(PAUSE)
        waiting = _differing(node, [step for step, _found in waiting])
    for step, found in waiting:
        asked = "systemd was asked for" if step.backend is Backend.DBUS else "was written"
        wanted, now = shown(step.knob, step.expected), shown(step.knob, found)
        raise Failed(
            f"{step.knob.name} of {step.target.cgroup}: {wanted} {asked}, and it is {now}",
            "See whether another program sets it, and the log of systemd (journalctl -b _PID=1)",
        )


def _differing(node: Node, steps: Sequence[Step]) -> list[tuple[Step, object]]:
    """Steps whose files do not say what is expected, with what they say."""
    by_cgroup: dict[str, list[Step]] = {}
    for step in steps:
        by_cgroup.setdefault(step.target.cgroup, []).append(step)
    differing: list[tuple[Step, object]] = []
    for own in by_cgroup.values():
        found = read_files(node, own[0].target, [step.knob for step in own])
        values = [(step, reading(step.knob, node.mode, found)) for step in own]
        differing += [(step, value) for step, value in values if value != step.expected]
    return differing


def _undone(undos: Sequence[Undo]) -> str:
    """Put everything back, the last change first, and say so."""
    troubles = []
    for undo in reversed(undos):
        try:
            undo()
        except ColocationError as error:
            troubles.append(str(error))
    if troubles:
        return f"Of {len(undos)} writes made before, these could not be put back: {'; '.join(troubles)}"
    return f"The {len(undos)} writes made before were put back" if undos else "Nothing had been written"
