# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done when: which cgroups are done each by itself, and what goes together in one call to systemd."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Iterable, Sequence, Union

from .conversion import Backend
from .ordering import Place, Turn, place, turn
from .plan import Step

PARTITION = "cpuset_partition"
PARTNERS = {
    "cpu_burst": ("cpu_quota", "cpu_period"),
    "cpu_idle": ("cpu_weight",),
    "cpuset_partition": ("cpuset_cpus",),
    "memory_swap_max": ("memory_max",),
}
"""Raw writes that ``ordering.turn`` puts before or behind a property of the same unit for a reason."""


@dataclass(frozen=True)
class Call:
    """All properties of one unit, set in one call."""

    steps: tuple[Step, ...]


Work = Union[Step, Call]


def divided(steps: Sequence[Step]) -> tuple[list[list[Step]], list[Step]]:
    """The changes of each cgroup that has nothing to do with another one of them, and all other changes.

    It has when one is in the other, when systemd writes it, or when it takes CPUs away from others as a partition.
    """
    of_cgroup: dict[str, list[Step]] = defaultdict(list)
    bound, dbus = set(), Backend.DBUS
    for step in steps:
        if step.changed:
            of_cgroup[step.target.cgroup].append(step)
            if step.backend is dbus or step.knob.name == PARTITION:
                bound.add(step.target.cgroup)
    outer = _above(of_cgroup) & of_cgroup.keys()
    bound |= outer | {cgroup for cgroup in of_cgroup if outer and not outer.isdisjoint(_above([cgroup]))}
    lone = [own for cgroup, own in of_cgroup.items() if cgroup not in bound]
    return lone, [step for cgroup, own in of_cgroup.items() if cgroup in bound for step in own]


def _above(cgroups: Iterable[str]) -> set[str]:
    """All cgroups that one of these is in."""
    parents = {cgroup.rpartition("/")[0] for cgroup in cgroups} - {""}
    return parents | _above(parents) if parents else parents


def place_of(step: Step) -> Place:
    return place(step.knob.name, step.before, step.after)


def arranged(steps: Sequence[Step]) -> list[Work]:
    """In the order of ``ordering.turn``, the properties of one unit together."""
    in_order = sorted(steps, key=_turn_of)
    of_cgroup = by_cgroup(in_order)
    work: list[Work] = []
    done: set[str] = set()
    for step in in_order:
        own = of_cgroup[step.target.cgroup]
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


def _turn_of(step: Step) -> Turn:
    return turn(step.target.cgroup, step.knob.name, step.before, step.after)


def by_cgroup(steps: Iterable[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        found[step.target.cgroup].append(step)
    return found
