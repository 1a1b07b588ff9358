# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets of the benchmark, and whether they are reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .contestants import Contestant
from .figures import Spread, ratios
from .planning_cost import PlanningCost
from .rounds import Run, Runs

ALIGNED_EXECUTIONS = 1
MISALIGNED_EXECUTIONS = 3
PINGS = 2.0
STOCK_SHARE = 1 / 3
ALIGNED_PLANNING_MS = 10.0
EDITED_PLANNING_MS = 50.0


@dataclass(frozen=True)
class Target:
    """A target; ``counted`` means a number that does not depend on the machine and must be right."""

    what: str
    value: str
    bound: str
    reached: bool
    counted: bool = False


def compare(runs: Runs, other: Contestant) -> Spread:
    """Wall time of aligned provision as a multiple of another contestant's, without the node's own programs."""
    rounds = runs.rounds
    return ratios([run.net for run in rounds[Contestant.PROVISION]], [run.net for run in rounds[other]])


def compare_cpu(runs: Runs, other: Contestant) -> Spread:
    """CPU time of the controller for aligned provision as a multiple of another contestant's."""
    rounds = runs.rounds
    return ratios([run.cost.cpu for run in rounds[Contestant.PROVISION]], [run.cost.cpu for run in rounds[other]])


def targets(runs: Runs, planning: Sequence[PlanningCost]) -> tuple[Target, ...]:
    """All targets of runs and planning, in the order in which they are printed."""
    pings, share = compare(runs, Contestant.PING), compare(runs, Contestant.STOCK)
    return (
        _executions("module executions, aligned node", runs.counted[Contestant.PROVISION], ALIGNED_EXECUTIONS),
        _executions("module executions, misaligned node", runs.change, MISALIGNED_EXECUTIONS),
        _at_most("aligned `provision` in pings", pings, PINGS),
        _at_most("aligned `provision` in stock playbooks", share, STOCK_SHARE),
        _planning(
            "planning an aligned node in the rounds", _worst(runs.rounds[Contestant.PROVISION]), ALIGNED_PLANNING_MS
        ),
        _planning("planning with edits in the change", _worst([runs.change]), EDITED_PLANNING_MS),
        *(_planning(f"planning a recorded node, {cost.case}", cost.first_ms, _bound(cost)) for cost in planning),
    )


def _executions(what: str, run: Run, expected: int) -> Target:
    """Ansible's output and the collection's ``usage`` must have the same numbers of executions and polls."""
    reported = (run.trace.executions, run.trace.polls)
    right = reported == (run.record.executions, run.record.polls) and reported[0] == expected
    value = f"{reported[0]} and {reported[1]} poll(s)"
    if reported != (run.record.executions, run.record.polls):
        value += f"; `usage` reports {run.record.executions} and {run.record.polls}"
    return Target(what, value, f"{expected}", right, counted=True)


def _at_most(what: str, ratio: Spread, bound: float) -> Target:
    return Target(what, str(ratio), f"≤ {bound:.2f}", ratio.median <= bound)


def _planning(what: str, milliseconds: float, bound: float) -> Target:
    return Target(what, f"{milliseconds:.1f} ms", f"< {bound:.0f} ms", milliseconds < bound)


def _bound(cost: PlanningCost) -> float:
    return EDITED_PLANNING_MS if cost.changes else ALIGNED_PLANNING_MS


def _worst(runs: Sequence[Run]) -> float:
    return max((milliseconds for run in runs for milliseconds in run.record.planning_ms), default=0.0)
