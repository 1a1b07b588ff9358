# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preemption with the role's configuration: allocate, backfill and preempt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.objects import names, priority_class
from ansible_collections.volcano.colocation.tests.volcano.space import Space


@pytest.fixture(scope="module", autouse=True)
def _configured(cluster: Cluster) -> None:
    text = cluster.configure(UPSTREAM)
    assert 'actions: "allocate, backfill, preempt"' in text


@pytest.fixture(name="own")
def _own(space: Callable[..., Space]) -> Space:
    """A Node of two CPUs that a job of low priority fills. The job goes on with one pod."""
    own = space(cpus=2)
    own.priorities(low=1, high=1000)
    own.create(priority_class("waits", 1000, "Never"))
    own.job("low", 2, minimum=1, priorityClassName="low")
    own.runs("low", 2)
    return own


def test_a_job_of_high_priority_preempts_one_of_low_priority_in_its_queue(own: Space) -> None:
    own.job("high", priorityClassName="high")
    own.runs("high", 1)
    own.runs("low", 1)


def test_pods_carry_the_class_and_the_policy_of_their_job(own: Space) -> None:
    own.job("high", priorityClassName="high")
    own.job("waiting", priorityClassName="waits")
    (pod,) = own.runs("high", 1)
    assert [pod["spec"][field] for field in ("priorityClassName", "priority")] == ["high", 1000]
    (pod,) = eventually(lambda: own.cluster.pods(own.name, "waiting"))
    assert [pod["spec"][field] for field in ("priorityClassName", "preemptionPolicy")] == ["waits", "Never"]


def test_a_job_whose_class_never_preempts_waits(own: Space) -> None:
    own.job("waiting", priorityClassName="waits")
    eventually(lambda: own.cluster.pods(own.name, "waiting"))
    never(lambda: own.running("waiting"))
    assert len(own.running("low")) == 2


def test_a_pod_whose_policy_is_never_waits(own: Space) -> None:
    own.pod("waiting", priority="waits")
    never(lambda: "waiting" in own.running())
    assert len(own.running("low")) == 2


def test_a_task_of_high_priority_preempts_another_task_of_its_job(
    cluster: Cluster, space: Callable[..., Space]
) -> None:
    own = space(cpus=3)
    own.priorities(**{"task-low": 1, "task-high": 1000})
    tasks = [
        objects.task(name, count, objects.pod_spec(pool=own.name, priority=f"task-{name}"))
        for name, count in (("low", 2), ("high", 1))
    ]
    own.create(objects.job("mixed", own.name, *tasks, minimum=1))
    own.runs("mixed", 3)
    job = cluster.get("Job", "mixed", own.name)
    assert job
    low, high = job["spec"]["tasks"]
    cluster.patch(job, {"spec": {"tasks": [low, {**high, "replicas": 2}]}})
    eventually(lambda: "mixed-high-1" in own.running("mixed"), lambda: cluster.events(own.name))
    eventually(lambda: len(own.running("mixed")) == 3)


def test_a_pod_without_requests_preempts_nobody(cluster: Cluster, space: Callable[..., Space]) -> None:
    own = space(cpus=2, pods="2")
    own.priorities(low=1, high=1000)
    own.job("low", 2, minimum=1, priorityClassName="low")
    own.runs("low", 2)
    own.job("nothing", priorityClassName="high", cpu="")
    eventually(lambda: cluster.pods(own.name, "nothing"))
    never(lambda: own.running("nothing"))
    assert len(own.running("low")) == 2
    # The same job with requests does preempt.
    own.job("something", priorityClassName="high")
    own.runs("something", 1)


def test_preempt_never_crosses_queues(own: Space) -> None:
    queue = own.queue("preemption-other")
    own.job("high", priorityClassName="high", queue=queue)
    eventually(lambda: own.cluster.pods(own.name, "high"))
    never(lambda: own.running("high"))
    assert names(own.cluster.running(own.name, "low")) == ["low-main-0", "low-main-1"]
