# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations and queues with which a job waits without end for resources of another queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.queue_starvation import (
    online_jobs_can_starve,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.queues import Queue, parse_queue

THREE = {"actions": "allocate, backfill, preempt"}
RECLAIM = {"actions": "allocate, backfill, preempt, reclaim"}
ROOT = Queue("root", reclaimable=False)
DEFAULT = Queue("default", reclaimable=True, parent="root")
ONLINE, OFFLINE = Queue("online", reclaimable=False), Queue("offline", reclaimable=False)


def evidence(document: dict[str, Any], desired: Sequence[Queue], observed: Sequence[Queue] = ()) -> tuple[str, ...]:
    findings = online_jobs_can_starve(document, desired, observed)
    assert [finding.code for finding in findings] == ["scheduler-online-jobs-can-starve"][: len(findings)]
    return findings[0].evidence if findings else ()


def test_without_reclaim_queues_take_nothing_from_each_other() -> None:
    (finding,) = online_jobs_can_starve(THREE, [Queue("online")], [ROOT, DEFAULT])
    assert finding.evidence == (
        "actions = allocate, backfill, preempt",
        "queues = default, online",
        "the action reclaim is missing",
    )
    assert finding.remedy == (
        "Set colocation_scheduler_reclaim: true, with reclaimable queues for offline jobs, or put online and offline"
        " jobs in one queue."
    )
    assert evidence(THREE, [], [ROOT, DEFAULT, ONLINE]) != ()
    assert evidence({}, [], [ONLINE, OFFLINE])[0] == "actions = "


@pytest.mark.parametrize(
    "queues",
    [
        [],
        [ROOT, DEFAULT],
        [ROOT, Queue("org"), Queue("org-a", parent="org")],
        [ROOT, DEFAULT, Queue("old", closed=True)],
    ],
)
def test_one_queue_with_jobs_is_not_reported(queues: list[Queue]) -> None:
    assert evidence(THREE, [], queues) == ()


def test_a_desired_parent_takes_no_jobs_and_its_children_do() -> None:
    org, children = Queue("org"), [Queue("a", parent="org"), Queue("b", parent="org")]
    assert evidence(THREE, children[:1], [org]) == ()
    assert evidence(THREE, children, [org])[1] == "queues = a, b"


def test_only_a_few_queues_are_named() -> None:
    assert evidence(THREE, [Queue(f"q{number}") for number in range(7)])[1] == "queues = q0, q1, q2, q3, q4 and 2 more"
    assert evidence(THREE, [Queue(f"q{number}") for number in range(5)])[1] == "queues = q0, q1, q2, q3, q4"


@pytest.mark.parametrize("action", ["reclaim", "gangreclaim"])
@pytest.mark.parametrize("reclaimable", [True, None])
def test_with_reclaim_one_reclaimable_queue_is_enough(action: str, reclaimable: bool | None) -> None:
    document = {"actions": f"allocate, {action}"}
    assert evidence(document, [ONLINE, Queue("offline", reclaimable=reclaimable)], [ROOT, DEFAULT]) == ()
    assert evidence(document, [Queue("offline")], [Queue("offline", reclaimable=reclaimable), ONLINE]) == ()


def test_with_reclaim_and_no_reclaimable_queue_it_is_the_same() -> None:
    (finding,) = online_jobs_can_starve(RECLAIM, [ONLINE], [ROOT, OFFLINE])
    assert finding.evidence == (
        "actions = allocate, backfill, preempt, reclaim",
        "queues = offline, online",
        "none of these queues is reclaimable",
    )
    assert finding.remedy == (
        "Set reclaimable: true in colocation_queues for queues of offline jobs, or put online and offline jobs in one"
        " queue."
    )


def test_the_default_queue_gives_something_only_where_it_is_used() -> None:
    assert evidence(RECLAIM, [ONLINE, OFFLINE], [ROOT, DEFAULT])[2] == (
        "the only reclaimable queue is default, which has no pods"
    )
    assert evidence(RECLAIM, [ONLINE, OFFLINE], [ROOT, Queue("default", pods=3)]) == ()
    assert evidence(RECLAIM, [ONLINE, OFFLINE, Queue("default")], [ROOT, DEFAULT]) == ()


def test_a_queue_of_the_cluster_is_closed_by_its_state() -> None:
    manifest = {"metadata": {"name": "old"}, "spec": {}, "status": {"state": "Closed"}}
    assert parse_queue(manifest).closed
    assert not parse_queue({**manifest, "status": {"state": "Open"}}).closed
    assert not parse_queue({"metadata": {"name": "new"}}).closed
    assert evidence(THREE, [Queue("old"), Queue("new")], [parse_queue(manifest)]) == ()
