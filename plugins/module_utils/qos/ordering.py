# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order writes go, so that none is refused for what another one has yet to do.

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

from typing import Any, Sequence, Tuple

from .knob import Value


def _ranks(names: Sequence[str]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(names)}


_NARROWING = _ranks(
    ("cpu_idle", "cpuset_partition", "cpu_burst", "cpu_period", "cpu_quota", "memory_max", "memory_swap_max")
)
_WIDENING = _ranks(("cpu_quota", "memory_swap_max", "memory_max", "cpu_burst", "cpuset_cpus", "cpuset_partition"))
_LAST = "cpu_idle"
_UNRANKED = 9

Place = Tuple[int, int]
Turn = Tuple[int, int, int]


def turn(cgroup: str, knob: str, before: Value, after: Value) -> Turn:
    """What to sort changes by; what nothing is said about stays as it was given.

    ``before`` and ``after`` are neutral values, ``cgroup`` is a path below the cgroup root.
    """
    phase, rank = place(knob, before, after)
    depth = cgroup.count("/")
    return phase, depth if phase else -depth, rank


def place(knob: str, before: Value, after: Value) -> Place:
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
