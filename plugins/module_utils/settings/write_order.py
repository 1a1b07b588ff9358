# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of writes, in which the kernel refuses none of them, and the properties that are set in one call.

All changes that narrow a limit come first, from the leaves up, then those that widen one, from the root down. On v1 a
child's quota and cpuset must fit into its parent's (kernel/sched/core.c tg_cfs_schedulable_down,
kernel/cgroup/cpuset-v1.c). Within a cgroup:

- a burst is at most the quota (kernel/sched/core.c tg_set_cfs_bandwidth): reduce it before period and quota, raise it
  after them;
- the period comes before the quota, because the text of the quota contains the period;
- on v1 the memory limit is at most the limit of memory and swap together (mm/memcontrol-v1.c mem_cgroup_resize_max):
  reduce it before that limit, raise it after it;
- the weight of an idle cgroup cannot be written (kernel/sched/fair.c sched_group_set_shares): idle off first, on last;
- a partition needs its CPUs (kernel/cgroup/cpuset.c): end it before its CPUs change, make it afterwards.
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
    """The sort key of a change; changes with equal keys keep their order.

    ``before`` and ``after`` are neutral values, ``cgroup`` is a path below the cgroup root.
    """
    phase, rank = local_rank(knob, before, after)
    depth = cgroup.count("/")
    return phase, depth if phase else -depth, rank


def local_rank(knob: str, before: Value, after: Value) -> LocalRank:
    """The sort key within a cgroup: the phase (0 narrows, 1 widens, 2 last), and the rank in the phase."""
    if knob == "cpu_period" or not widens(knob, before, after):
        return 0, _NARROWING.get(knob, _UNRANKED)
    if knob == _LAST:
        return 2, 0
    return 1, _WIDENING.get(knob, _UNRANKED)


def widens(knob: str, before: Value, after: Value) -> bool:
    """Whether the change gives the cgroup more; for cpu_idle and a partition: whether it turns them on."""
    if isinstance(before, int) and isinstance(after, int):
        return after > before
    if knob == "cpuset_partition":
        return after != "member"
    if knob in ("cpuset_cpus", "cpuset_mems"):
        return _list_widens(before, after)
    return after is None or isinstance(after, tuple)


def _list_widens(before: Any, after: Any) -> bool:
    """An empty list means the parent's CPUs or memory nodes, the maximum."""
    return not after or (bool(before) and set(after) >= set(before))


PARTITION = "cpuset_partition"
PARTNERS = {
    "cpu_burst": ("cpu_quota", "cpu_period"),
    "cpu_idle": ("cpu_weight",),
    "cpuset_partition": ("cpuset_cpus",),
    "memory_swap_max": ("memory_max",),
}
"""Knobs whose raw write must come before or after a property of the same unit, in the order of ``rank_change``."""


@dataclass(frozen=True)
class UnitCall:
    """All properties of one unit, set in one call."""

    steps: tuple[Step, ...]


Operation = Union[Step, UnitCall]


def split_independent(steps: Sequence[Step]) -> tuple[list[list[Step]], list[Step]]:
    """The changes of each independent cgroup, and all other changes.

    A cgroup is not independent if it contains or is in another changed cgroup, if systemd writes it, or if it is a
    partition, which takes CPUs from other cgroups.
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
    independent = [group for cgroup, group in of_cgroup.items() if cgroup not in bound]
    return independent, [step for cgroup, group in of_cgroup.items() if cgroup in bound for step in group]


def _above(cgroups: Iterable[str]) -> set[str]:
    """All ancestors of these cgroups."""
    parents = {cgroup.rpartition("/")[0] for cgroup in cgroups} - {""}
    return parents | _above(parents) if parents else parents


def rank_in_cgroup(step: Step) -> LocalRank:
    return local_rank(step.knob.name, step.before, step.after)


def batch_steps(steps: Sequence[Step]) -> list[Operation]:
    """The operations in the order of ``rank_change``; the properties of one unit are set together."""
    in_order = sorted(steps, key=_rank_of)
    of_cgroup = by_cgroup(in_order)
    operations: list[Operation] = []
    done: set[str] = set()
    for step in in_order:
        group = of_cgroup[step.target.cgroup]
        if step.backend is Backend.FILE and not _partners(step, group):
            operations.append(step)
        elif step.target.cgroup not in done:
            done.add(step.target.cgroup)
            operations += _around_call(group)
    return operations


def _partners(step: Step, group: Sequence[Step]) -> list[Step]:
    """Steps that set properties of the same unit, and whose order relative to this raw write matters."""
    names = PARTNERS.get(step.knob.name, ())
    return [partner for partner in group if partner.backend is Backend.DBUS and partner.knob.name in names]


def _around_call(group: Sequence[Step]) -> list[Operation]:
    partnered = [step for step in group if step.backend is Backend.FILE and _partners(step, group)]
    first = [step for step in partnered if group.index(step) < group.index(_partners(step, group)[0])]
    then = [step for step in partnered if step not in first]
    return [*first, UnitCall(tuple(step for step in group if step.backend is Backend.DBUS)), *then]


def _rank_of(step: Step) -> Rank:
    return rank_change(step.target.cgroup, step.knob.name, step.before, step.after)


def by_cgroup(steps: Iterable[Step]) -> dict[str, list[Step]]:
    groups: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        groups[step.target.cgroup].append(step)
    return groups
