# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a target counts as reached."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.bench.contestants import Contestant
from ansible_collections.volcano.colocation.tests.bench.planning_cost import PlanningCost, combined
from ansible_collections.volcano.colocation.tests.bench.reaches import Target, compare, compare_cpu, targets
from ansible_collections.volcano.colocation.tests.bench.rounds import Runs

from .runs import ALIGNED, CHANGED, all_runs, run, task, usage


def cost(changes: int, first_ms: float) -> PlanningCost:
    return PlanningCost("case", changes, load_ms=80.0, first_ms=first_ms, again_ms=1.0, imported=0)


def targets_by_name(runs: Runs, *planning: PlanningCost) -> dict[str, Target]:
    return {target.what: target for target in targets(runs, planning)}


def test_the_nodes_own_programs_are_left_out_of_wall_time() -> None:
    assert compare(all_runs(pings=(1.0, 2.0)), Contestant.PING).median == (3.0 + 2.0) / 2
    assert compare_cpu(all_runs(pings=(4.0, 4.0)), Contestant.PING).median == (1.0 + 1.25) / 2


def test_figures_below_every_limit_are_all_reached() -> None:
    assert all(target.reached for target in targets(all_runs(), [cost(0, 9.9), cost(3, 49.9)]))


def test_each_can_be_missed() -> None:
    slow = targets_by_name(all_runs(pings=(1.0, 1.0), stocks=(6.0, 6.0)), cost(0, 10.0), cost(3, 50.0))
    assert [target.what for target in slow.values() if not target.reached] == [
        "aligned `provision` in pings",
        "aligned `provision` in stock playbooks",
        "planning a recorded node, case",
    ]
    assert not any(target.counted for target in slow.values() if not target.reached)


def test_one_execution_too_many_is_wrong() -> None:
    change = run(60.0, task(usage=usage(4, 4)), trace=type(CHANGED)(CHANGED.modules + ALIGNED.modules, 8))
    target = targets_by_name(all_runs(change=change))["module executions, misaligned node"]
    assert (target.reached, target.counted, target.value) == (False, True, "4 and 4 poll(s)")


def test_the_reported_usage_must_agree_with_ansibles_output() -> None:
    counted = run(4.0, task(usage=usage(0)), trace=ALIGNED)
    target = targets_by_name(all_runs(counted=counted))["module executions, aligned node"]
    assert (target.reached, target.value) == (False, "1 and 0 poll(s); `usage` reports 0 and 0")


def test_planning_costs_are_medians_over_processes() -> None:
    reports = [
        {"changes": 7, "imported": 42, "load_ms": load, "first_ms": load / 2, "again_ms": 1.25}
        for load in (80, 200, 90)
    ]
    assert combined("edited", reports) == PlanningCost("edited", 7, 90.0, 45.0, 1.2, 42)
