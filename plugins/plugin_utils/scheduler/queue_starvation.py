# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a job can wait without end for resources that jobs of another queue have.

volcano pkg/scheduler/actions: preempt evicts only pods of the same queue, reclaim pods of other queues that are
reclaimable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..rules.rule_types import Effect, Finding, Severity
from .queues import ROOT, Queue, queues_after
from .volcano_conf import RECLAIM, parse_actions

CROSS_QUEUE_ACTIONS = (RECLAIM, "gangreclaim")
"""The actions that evict pods of other queues; gangreclaim exists since Volcano 1.15."""
DEFAULT = "default"
LISTED = 5


def online_jobs_can_starve(
    document: Mapping[str, Any], desired: Sequence[Queue], observed: Iterable[Queue]
) -> tuple[Finding, ...]:
    """A finding where several queues take jobs after the change, and none of them gives resources to another."""
    queues = _job_queues(queues_after(desired, {queue.name: queue for queue in observed}))
    actions = parse_actions(document.get("actions"))
    reclaims = any(name in CROSS_QUEUE_ACTIONS for name in actions)
    if len(queues) < 2 or (reclaims and _any_reclaimable(queues, desired)):
        return ()
    names = first_names([queue.name for queue in queues])
    reason, remedy = "the action reclaim is missing", "colocation_scheduler_reclaim: true, with reclaimable queues for"
    if reclaims:
        reason, remedy = _unreclaimable(queues), "reclaimable: true in colocation_queues for queues of"
    return (
        Finding(
            "scheduler-online-jobs-can-starve",
            Severity.WARNING,
            Effect.NONE,
            "A job of high priority can wait without end for resources that jobs of another queue have.",
            (f"actions = {', '.join(actions)}", f"queues = {names}", reason),
            f"Set {remedy} offline jobs, or put online and offline jobs in one queue.",
        ),
    )


def _job_queues(tree: Mapping[str, Queue]) -> tuple[Queue, ...]:
    """The queues that take jobs: not the root, not a parent (admission/jobs/validate/admit_job.go), not closed."""
    parents = {queue.parent for queue in tree.values()}
    return tuple(
        queue for name, queue in sorted(tree.items()) if name != ROOT and name not in parents and not queue.closed
    )


def _any_reclaimable(queues: Iterable[Queue], desired: Iterable[Queue]) -> bool:
    """Whether reclaim has a queue to take from. Volcano's default of ``reclaimable`` is true.

    Volcano creates the queue default as reclaimable. Where it has no pods, it counts only if it is desired.
    """
    names = {queue.name for queue in desired}
    return any(
        queue.reclaimable is not False and (queue.name != DEFAULT or queue.pods > 0 or queue.name in names)
        for queue in queues
    )


def _unreclaimable(queues: Iterable[Queue]) -> str:
    if any(queue.reclaimable is not False for queue in queues):
        return f"the only reclaimable queue is {DEFAULT}, which has no pods"
    return "none of these queues is reclaimable"


def first_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")
