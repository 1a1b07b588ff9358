# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as reached."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.bench.contestants import Contestant
from ansible_collections.volcano.colocation.tests.bench.planning_cost import PlanningCost, combined
from ansible_collections.volcano.colocation.tests.bench.reaches import Reach, compare, compare_cpu, reaches
from ansible_collections.volcano.colocation.tests.bench.rounds import Runs

from .runs import ALIGNED, CHANGED, all_runs, run, task, usage


def cost(changes: int, first_ms: float) -> PlanningCost:
    return PlanningCost("case", changes, load_ms=80.0, first_ms=first_ms, again_ms=1.0, imported=0)


def found(runs: Runs, *planning: PlanningCost) -> dict[str, Reach]:
    return {reach.what: reach for reach in reaches(runs, planning)}


def test_the_nodes_own_programs_are_left_out_of_wall_time() -> None:
    assert compare(all_runs(pings=(1.0, 2.0)), Contestant.PING).median == (3.0 + 2.0) / 2
    assert compare_cpu(all_runs(pings=(4.0, 4.0)), Contestant.PING).median == (1.0 + 1.25) / 2


def test_figures_below_every_limit_are_all_reached() -> None:
    assert all(reach.reached for reach in reaches(all_runs(), [cost(0, 9.9), cost(3, 49.9)]))


def test_each_can_be_missed() -> None:
    slow = found(all_runs(pings=(1.0, 1.0), stocks=(6.0, 6.0)), cost(0, 10.0), cost(3, 50.0))
    assert [reach.what for reach in slow.values() if not reach.reached] == [
        "aligned `provision` in pings",
        "aligned `provision` in stock playbooks",
        "planning a recorded node, case",
    ]
    assert not any(reach.counted for reach in slow.values() if not reach.reached)


def test_one_execution_too_many_is_wrong() -> None:
    change = run(60.0, task(usage=usage(4, 4)), trace=type(CHANGED)(CHANGED.modules + ALIGNED.modules, 8))
    reach = found(all_runs(change=change))["module executions, misaligned node"]
    assert (reach.reached, reach.counted, reach.value) == (False, True, "4 and 4 poll(s)")


def test_our_own_word_has_to_agree_with_ansibles() -> None:
    counted = run(4.0, task(usage=usage(0)), trace=ALIGNED)
    reach = found(all_runs(counted=counted))["module executions, aligned node"]
    assert (reach.reached, reach.value) == (False, "1 and 0 poll(s); by our own word 0 and 0")


def test_planning_costs_are_medians_over_processes() -> None:
    reports = [
        {"changes": 7, "imported": 42, "load_ms": load, "first_ms": load / 2, "again_ms": 1.25}
        for load in (80, 200, 90)
    ]
    assert combined("edited", reports) == PlanningCost("edited", 7, 90.0, 45.0, 1.2, 42)
