# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the plugins for queues and nodes divide the resources, without taking anything back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, RefusedError, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.configurations import CAPACITY, HIERARCHY
from ansible_collections.volcano.colocation.tests.volcano.objects import ended, name_of
from ansible_collections.volcano.colocation.tests.volcano.space import Space


def both(own: Space, first: int, second: int) -> None:
    """Jobs in both queues that would each fill the Node; wait until exactly these counts of their pods run."""
    with own.cordoned(pods=8):
        for name in ("first", "second"):
            own.job(name, 4, minimum=1, queue=name)
    own.runs("first", first)
    own.runs("second", second)
    never(lambda: (len(own.running("first")), len(own.running("second"))) != (first, second))


def test_proportion_divides_by_weight(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(UPSTREAM)
    own = space(cpus=4)
    own.queue("first", weight=3)
    own.queue("second", weight=1)
    both(own, 3, 1)


def test_a_queue_gets_no_more_than_its_capability(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(UPSTREAM)
    own = space(cpus=4)
    own.queue("first", capability={"cpu": "1"})
    own.queue("second")
    both(own, 1, 3)


def test_an_overused_queue_is_skipped(cluster: Cluster, space: Callable[..., Space]) -> None:
    """The queue with more than it deserves gets nothing that becomes free while another has less."""
    cluster.configure(UPSTREAM)
    own = space(cpus=4)
    own.queue("first", weight=1)
    own.queue("second", weight=1)
    own.job("first", 6, minimum=1, queue="first")
    pods = own.runs("first", 4)
    own.job("second", 2, minimum=1, queue="second")
    eventually(lambda: own.cluster.pods(own.name, "second"))
    for number, pod in enumerate(pods[:2], 1):
        own.cluster.patch(pod, ended("Succeeded"))
        own.runs("second", number)
    assert len(own.running("first")) == 2


def test_a_guarantee_is_never_lent(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(CAPACITY)
    own = space(cpus=4)
    two = {"cpu": "2"}
    own.queue("first", guarantee={"resource": two}, deserved=two)
    own.queue("second")
    own.job("second", 4, minimum=1, queue="second")
    own.runs("second", 2)
    never(lambda: len(own.running("second")) > 2)
    own.job("first", 2, queue="first")
    own.runs("first", 2)


def test_idle_deserved_resources_are_lent_and_taken_back(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(CAPACITY, colocation_scheduler_reclaim=True)
    own = space(cpus=4)
    own.queue("first", deserved={"cpu": "3"})
    own.queue("second", deserved={"cpu": "1"})
    own.job("second", 4, minimum=1, queue="second")
    own.runs("second", 4)
    own.job("first", 3, queue="first")
    own.runs("first", 3)
    own.runs("second", 1)


def test_only_leaf_queues_take_jobs(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(HIERARCHY)
    own = space(cpus=4)
    own.queue("parent", deserved={"cpu": "2"})
    own.queue("leaf", parent="parent", deserved={"cpu": "2"})
    own.job("below", queue="leaf")
    own.runs("below", 1)
    with pytest.raises(RefusedError, match="parent"):
        own.job("above", queue="parent")


def test_a_leaf_is_limited_by_all_queues_above_it(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(HIERARCHY)
    own = space(cpus=4)
    own.queue("top", capability={"cpu": "2"})
    own.queue("middle", parent="top")
    own.queue("bottom", parent="middle")
    own.job("many", 4, minimum=1, queue="bottom")
    own.runs("many", 2)
    never(lambda: len(own.running("many")) > 2)


def test_backfill_runs_pods_without_requests_while_a_gang_waits(cluster: Cluster, space: Callable[..., Space]) -> None:
    cluster.configure(UPSTREAM)
    own = space(cpus=2)
    own.job("gang", 3)
    eventually(lambda: len(own.cluster.pods(own.name, "gang")) == 3)
    own.job("nothing", cpu="")
    (pod,) = own.runs("nothing", 1)
    assert name_of(pod) == "nothing-main-0"
    assert own.running("gang") == []


def test_with_enqueue_a_job_has_no_pods_before_the_cluster_has_room(
    cluster: Cluster, space: Callable[..., Space]
) -> None:
    """Without it the pods exist, so that preempt can find room for them."""
    own = space(cpus=1)
    own.job("fills")
    own.runs("fills", 1)
    cluster.configure(UPSTREAM, colocation_scheduler_dropped_actions=[])
    own.job("later", 4)
    never(lambda: own.cluster.pods(own.name, "later"))
    cluster.configure()
    eventually(lambda: len(own.cluster.pods(own.name, "later")) == 4)
