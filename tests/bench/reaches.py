# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be reached, and whether it was."""

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
class Reach:
    """``counted``: a number that no machine makes slower; it has to be right."""

    what: str
    value: str
    bound: str
    reached: bool
    counted: bool = False


def compare(runs: Runs, other: Contestant) -> Spread:
    """Aligned provision as a multiple of another contestant, without what the node's own programs took."""
    rounds = runs.rounds
    return ratios([run.net for run in rounds[Contestant.PROVISION]], [run.net for run in rounds[other]])


def compare_cpu(runs: Runs, other: Contestant) -> Spread:
    """The same of the controller's CPU time."""
    rounds = runs.rounds
    return ratios([run.cost.cpu for run in rounds[Contestant.PROVISION]], [run.cost.cpu for run in rounds[other]])


def reaches(runs: Runs, planning: Sequence[PlanningCost]) -> tuple[Reach, ...]:
    """All reaches in the order in which they are printed."""
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
        *(_planning(f"planning a recorded node, {each.case}", each.first_ms, _bound(each)) for each in planning),
    )


def _executions(what: str, run: Run, wanted: int) -> Reach:
    """Ansible's word and our own have to agree, polls too."""
    told = (run.trace.executions, run.trace.polls)
    right = told == (run.record.executions, run.record.polls) and told[0] == wanted
    value = f"{told[0]} and {told[1]} poll(s)"
    if told != (run.record.executions, run.record.polls):
        value += f"; by our own word {run.record.executions} and {run.record.polls}"
    return Reach(what, value, f"{wanted}", right, counted=True)


def _at_most(what: str, found: Spread, bound: float) -> Reach:
    return Reach(what, str(found), f"≤ {bound:.2f}", found.median <= bound)


def _planning(what: str, milliseconds: float, bound: float) -> Reach:
    return Reach(what, f"{milliseconds:.1f} ms", f"< {bound:.0f} ms", milliseconds < bound)


def _bound(cost: PlanningCost) -> float:
    return EDITED_PLANNING_MS if cost.changes else ALIGNED_PLANNING_MS


def _worst(runs: Sequence[Run]) -> float:
    return max((each for run in runs for each in run.record.planning_ms), default=0.0)
