# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order writes go, so that none is refused for what another one has yet to do, and what is done in one call.

First all that narrows, from the leaves up, then all that widens, from the root down. On v1 a child's quota and cpuset
must fit into its parent's (kernel/sched/core.c tg_cfs_schedulable_down, kernel/cgroup/cpuset-v1.c). Within a cgroup:

- a burst is at most the quota (kernel/sched/core.c tg_set_cfs_bandwidth): down before period and quota, up after;
- the period goes before the quota, whose text holds it;
- on v1 the memory limit is at most that of memory and swap together (mm/memcontrol-v1.c mem_cgroup_resize_max): down
  before it, up after it;
- while a cgroup is idle no weight can be written (kernel/sched/fair.c sched_group_set_shares): idle off first, on last;
- a partition needs its CPUs (kernel/cgroup/cpuset.c): given up before they change, made after.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Iterable, Sequence, Tuple, Union

from .change_plan import Step
from .codec import Backend
from .knob import Value


def _ranks(names: Sequence[str]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(names)}


_NARROWING = _ranks(
    ("cpu_idle", "cpuset_partition", "cpu_burst", "cpu_period", "cpu_quota", "memory_max", "memory_swap_max")
)
_WIDENING = _ranks(("cpu_quota", "memory_swap_max", "memory_max", "cpu_burst", "cpuset_cpus", "cpuset_partition"))
_LAST = "cpu_idle"
_UNRANKED = 9

LocalRank = Tuple[int, int]
Rank = Tuple[int, int, int]


def rank_change(cgroup: str, knob: str, before: Value, after: Value) -> Rank:
    """What to sort changes by; what nothing is said about stays as it was given.

    ``before`` and ``after`` are neutral values, ``cgroup`` is a path below the cgroup root.
    """
    phase, rank = local_rank(knob, before, after)
    depth = cgroup.count("/")
    return phase, depth if phase else -depth, rank


def local_rank(knob: str, before: Value, after: Value) -> LocalRank:
    """What to sort the changes of one cgroup by: whether it narrows, widens or comes last of all, and its rank."""
    if knob == "cpu_period" or not widens(knob, before, after):
        return 0, _NARROWING.get(knob, _UNRANKED)
    if knob == _LAST:
        return 2, 0
    return 1, _WIDENING.get(knob, _UNRANKED)


def widens(knob: str, before: Value, after: Value) -> bool:
    """Whether the cgroup may have more afterwards; for an idle one and a partition: whether it becomes one."""
    if isinstance(before, int) and isinstance(after, int):
        return after > before
    if knob == "cpuset_partition":
        return after != "member"
    if knob in ("cpuset_cpus", "cpuset_mems"):
        return _list_widens(before, after)
    return after is None or isinstance(after, tuple)


def _list_widens(before: Any, after: Any) -> bool:
    """An empty list means those of the parent, the most that there is."""
    return not after or (bool(before) and set(after) >= set(before))


PARTITION = "cpuset_partition"
PARTNERS = {
    "cpu_burst": ("cpu_quota", "cpu_period"),
    "cpu_idle": ("cpu_weight",),
    "cpuset_partition": ("cpuset_cpus",),
    "memory_swap_max": ("memory_max",),
}
"""Raw writes that ``rank_change`` puts before or behind a property of the same unit for a reason."""


@dataclass(frozen=True)
class UnitCall:
    """All properties of one unit, set in one call."""

    steps: tuple[Step, ...]


Operation = Union[Step, UnitCall]


def split_independent(steps: Sequence[Step]) -> tuple[list[list[Step]], list[Step]]:
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


def rank_in_cgroup(step: Step) -> LocalRank:
    return local_rank(step.knob.name, step.before, step.after)


def batch_steps(steps: Sequence[Step]) -> list[Operation]:
    """In the order of ``rank_change``, the properties of one unit together."""
    in_order = sorted(steps, key=_rank_of)
    of_cgroup = by_cgroup(in_order)
    work: list[Operation] = []
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


def _around_call(own: Sequence[Step]) -> list[Operation]:
    partnered = [each for each in own if each.backend is Backend.FILE and _partners(each, own)]
    first = [each for each in partnered if own.index(each) < own.index(_partners(each, own)[0])]
    then = [each for each in partnered if each not in first]
    return [*first, UnitCall(tuple(each for each in own if each.backend is Backend.DBUS)), *then]


def _rank_of(step: Step) -> Rank:
    return rank_change(step.target.cgroup, step.knob.name, step.before, step.after)


def by_cgroup(steps: Iterable[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        found[step.target.cgroup].append(step)
    return found
