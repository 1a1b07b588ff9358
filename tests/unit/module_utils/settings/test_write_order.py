# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders in which the kernel refuses nothing, one for each rule in write_order.py."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.settings.write_order import rank_change

POD = "kubepods/burstable/pod1"
PARENT = "kubepods/burstable"


class Write(NamedTuple):
    cgroup: str
    knob: str
    before: Any
    after: Any


def write(knob: str, before: Any, after: Any, cgroup: str = POD) -> Write:
    return Write(cgroup, knob, before, after)


def ordered(writes: Sequence[Write]) -> tuple[Write, ...]:
    return tuple(sorted(writes, key=lambda change: rank_change(*change)))


PAIRS = {
    "a quota widens: parent first": [
        write("cpu_quota", 100000, 200000, PARENT),
        write("cpu_quota", 50000, 150000),
    ],
    "a quota is lifted: parent first": [
        write("cpu_quota", 100000, None, PARENT),
        write("cpu_quota", 50000, 150000),
    ],
    "a quota narrows: child first": [
        write("cpu_quota", 150000, 50000),
        write("cpu_quota", 200000, 100000, PARENT),
    ],
    "a quota is set on what had none: child first": [
        write("cpu_quota", None, 50000),
        write("cpu_quota", None, 100000, PARENT),
    ],
    "a cpuset narrows: child first": [
        write("cpuset_cpus", (0, 1, 2), (0, 1)),
        write("cpuset_cpus", (0, 1, 2, 3), (0, 1), PARENT),
    ],
    "a cpuset widens: parent first": [
        write("cpuset_cpus", (0, 1), (0, 1, 2), PARENT),
        write("cpuset_cpus", (0,), (0, 2)),
    ],
    "an empty cpuset is all of the parent's: parent first": [
        write("cpuset_cpus", (0, 1), (), PARENT),
        write("cpuset_cpus", (0,), ()),
    ],
    "a quota is lowered: burst before it": [
        write("cpu_burst", 100000, 0),
        write("cpu_quota", 1000000, 500000),
    ],
    "a quota is raised: burst after it": [
        write("cpu_quota", 500000, 1000000),
        write("cpu_burst", 0, 100000),
    ],
    "a shorter period: burst before it": [
        write("cpu_burst", 100000, 10000),
        write("cpu_period", 100000, 50000),
    ],
    "a longer period: before a burst that grows": [
        write("cpu_period", 50000, 100000),
        write("cpu_burst", 10000, 100000),
    ],
    "period and lower quota": [
        write("cpu_period", 50000, 100000),
        write("cpu_quota", 1000000, 500000),
    ],
    "period and higher quota": [
        write("cpu_period", 100000, 50000),
        write("cpu_quota", 500000, 1000000),
    ],
    "memory and swap grow on v1": [
        write("memory_swap_max", 0, 4096),
        write("memory_max", 8192, 16384),
    ],
    "memory grows and swap shrinks on v1": [
        write("memory_swap_max", 8192, 0),
        write("memory_max", 4096, 8192),
    ],
    "memory and swap shrink on v1": [
        write("memory_max", 16384, 8192),
        write("memory_swap_max", 8192, 0),
    ],
    "memory shrinks and swap grows on v1": [
        write("memory_max", 16384, 8192),
        write("memory_swap_max", 0, 8192),
    ],
    "idle off before a weight": [
        write("cpu_idle", True, False),
        write("cpu_weight", 100, 50),
    ],
    "idle off before a weight that grows": [
        write("cpu_idle", True, False),
        write("cpu_weight", None, 500),
    ],
    "idle on after a weight": [
        write("cpu_weight", 100, 500),
        write("cpu_idle", False, True),
    ],
    "a partition after its CPUs": [
        write("cpuset_cpus", (), (0, 1)),
        write("cpuset_partition", "member", "root"),
    ],
    "a parent's partition first": [
        write("cpuset_partition", "member", "root", PARENT),
        write("cpuset_partition", "member", "isolated"),
    ],
    "a partition ends before its CPUs change": [
        write("cpuset_partition", "root", "member"),
        write("cpuset_cpus", (0, 1), (0,)),
    ],
}


@pytest.mark.parametrize("case", PAIRS)
def test_a_pair_is_sorted(case: str) -> None:
    first, second = PAIRS[case]
    assert ordered([first, second]) == (first, second)
    assert ordered([second, first]) == (first, second)


def test_changes_with_equal_ranks_keep_their_order() -> None:
    writes = [
        write("io_weight", 100, 200, "a/b"),
        write("memory_high", 4096, None, "c/d"),
        write("pids_max", 1, 9, "e/f"),
    ]
    assert ordered(writes) == tuple(writes)
    assert ordered(writes[::-1]) == tuple(writes[::-1])


def test_turning_idle_on_is_last() -> None:
    first, last = write("memory_max", 4096, None, "a/b/c/d"), write("cpu_idle", False, True, "a")
    assert ordered([last, first]) == (first, last)


@given(start=st.integers(1, 9), end=st.integers(1, 9), child_start=st.integers(1, 9), child_end=st.integers(1, 9))
def test_a_child_never_exceeds_its_parent(start: int, end: int, child_start: int, child_end: int) -> None:
    """The condition of cgroup v1 for quotas, at every step."""
    child_start, child_end = min(start, child_start), min(end, child_end)
    now = {PARENT: start, POD: child_start}
    for change in ordered([write("cpu_quota", child_start, child_end), write("cpu_quota", start, end, PARENT)]):
        now[change.cgroup] = change.after if isinstance(change.after, int) else 0
        assert now[POD] <= now[PARENT]


@given(memory=st.tuples(st.integers(1, 9), st.integers(1, 9)), swap=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_memory_never_exceeds_memory_and_swap(memory: tuple[int, int], swap: tuple[int, int]) -> None:
    """The condition of cgroup v1 for the two limits, at every step."""
    limit, both = memory[0], memory[0] + swap[0]
    for change in ordered([write("memory_swap_max", *swap), write("memory_max", *memory)]):
        if change.knob == "memory_max":
            limit = memory[1]
        else:
            both = memory[1] + swap[1]
        assert limit <= both


@given(quota=st.tuples(st.integers(1, 9), st.integers(1, 9)), burst=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_a_burst_never_exceeds_its_quota(quota: tuple[int, int], burst: tuple[int, int]) -> None:
    now = {"cpu_quota": quota[0], "cpu_burst": min(quota[0], burst[0])}
    then = {"cpu_quota": quota[1], "cpu_burst": min(quota[1], burst[1])}
    for change in ordered([write(name, now[name], then[name]) for name in now]):
        now[change.knob] = then[change.knob]
        assert now["cpu_burst"] <= now["cpu_quota"]
