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

from dataclasses import dataclass
from typing import Any, Sequence

from .conversion import Backend
from .knob import Value

_NARROWING = ("cpu_idle", "cpuset_partition", "cpu_burst", "cpu_period", "cpu_quota", "memory_max", "memory_swap_max")
_WIDENING = ("cpu_quota", "memory_swap_max", "memory_max", "cpu_burst", "cpuset_cpus", "cpuset_partition")
_LAST = "cpu_idle"


@dataclass(frozen=True)
class Write:
    """One change; ``before`` and ``after`` are neutral values, ``cgroup`` is a path below the cgroup root."""

    cgroup: str
    knob: str
    before: Value
    after: Value
    backend: Backend


def ordered(writes: Sequence[Write]) -> tuple[Write, ...]:
    """The order in which to write; what nothing is said about stays as it was given."""
    return tuple(sorted(writes, key=_key))


def _key(write: Write) -> tuple[int, int, int]:
    depth = write.cgroup.count("/")
    if write.knob == "cpu_period" or not widens(write):
        return (0, -depth, _rank(write.knob, _NARROWING))
    if write.knob == _LAST:
        return (2, depth, 0)
    return (1, depth, _rank(write.knob, _WIDENING))


def _rank(knob: str, order: tuple[str, ...]) -> int:
    return order.index(knob) if knob in order else len(order)


def widens(write: Write) -> bool:
    """Whether the cgroup may have more afterwards; for an idle one and a partition: whether it becomes one."""
    before, after = write.before, write.after
    if write.knob == "cpuset_partition":
        return after != "member"
    if write.knob in ("cpuset_cpus", "cpuset_mems"):
        return _list_widens(before, after)
    if isinstance(before, tuple) or isinstance(after, tuple):
        return True
    return after is None or (before is not None and _number(after) > _number(before))


def _list_widens(before: Any, after: Any) -> bool:
    """An empty list means those of the parent, the most that there is."""
    return not after or (bool(before) and set(after) >= set(before))


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
