# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the action reclaim takes back for another queue, with each plugin for queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.configurations import BY_PLUGIN
from ansible_collections.volcano.colocation.tests.volcano.objects import priority_class
from ansible_collections.volcano.colocation.tests.volcano.space import Space

MARKED = {"volcano.sh/preemptable": "false"}


@pytest.fixture(scope="module", params=sorted(BY_PLUGIN), autouse=True)
def _plugin(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    cluster.configure(BY_PLUGIN[request.param], colocation_scheduler_reclaim=True)
    return str(request.param)


@pytest.fixture(name="own")
def _own(space: Callable[..., Space]) -> Space:
    """Four CPUs, of which the queue `online` deserves three."""
    own = space(cpus=4)
    own.queue("online", weight=3, deserved={"cpu": "3"})
    own.priorities(high=1000)
    return own


def fill(own: Space, queue: dict[str, Any] | None = None, job: dict[str, Any] | None = None) -> None:
    """Fill the Node from the queue `offline`, which deserves one CPU. ``queue``, ``job``: further options of each."""
    own.queue("offline", weight=1, deserved={"cpu": "1"}, **(queue or {}))
    own.job("offline", 4, queue="offline", **{"minimum": 1, **(job or {})})
    own.runs("offline", 4)


def request(own: Space, priority: str = "high") -> None:
    """A job of the queue `online` that takes all that the queue deserves."""
    own.job("online", 3, queue="online", priorityClassName=priority)
    eventually(lambda: len(own.cluster.pods(own.name, "online")) == 3)


def test_a_queue_takes_back_what_it_deserves_and_no_more(own: Space) -> None:
    fill(own)
    request(own)
    own.runs("online", 3)
    own.runs("offline", 1)
    own.job("more", queue="online", priorityClassName="high")
    eventually(lambda: own.cluster.pods(own.name, "more"))
    never(lambda: own.running("more"))
    assert len(own.running("offline")) == 1


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"queue": {"reclaimable": False}}, id="its queue is not reclaimable"),
        pytest.param({"job": {"annotations": MARKED}}, id="its pods are marked"),
        pytest.param({"job": {"minimum": 4}}, id="its job needs all of its pods"),
    ],
)
def test_nothing_is_taken_back_if(own: Space, options: dict[str, Any]) -> None:
    fill(own, **options)
    request(own)
    never(lambda: own.running("online"))
    assert len(own.running("offline")) == 4


def test_a_job_whose_class_never_preempts_takes_nothing_back(own: Space) -> None:
    own.create(priority_class("waits", 1000, "Never"))
    fill(own)
    request(own, "waits")
    never(lambda: own.running("online"))
    assert len(own.running("offline")) == 4


def test_with_upstreams_tiers_a_job_loses_pods_that_it_needs(cluster: Cluster, own: Space) -> None:
    """Why the role moves the plugin for queues to the tier of gang (docs/upstream.md)."""
    text = UPSTREAM.replace("backfill", "backfill, preempt, reclaim")
    cluster.volcano.write_scheduler_text(text.replace("enqueue, ", ""))
    fill(own, job={"minimum": 4})
    request(own)
    eventually(lambda: len(own.running("offline")) < 4, lambda: cluster.events(own.name))
    cluster.volcano.write_scheduler_config()
