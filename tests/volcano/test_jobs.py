# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects: jobs, PodGroups and queues, as Volcano's controllers and scheduler handle them with our configuration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import CONTROLLERS
from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.objects import phase
from ansible_collections.volcano.colocation.tests.volcano.space import Space

GROUP_NAME = "scheduling.k8s.io/group-name"


@pytest.fixture(scope="module", autouse=True)
def _configured(cluster: Cluster) -> None:
    cluster.configure()


def counted(cluster: Cluster, queue: str, phase: str) -> float:
    """The PodGroups of a queue in a phase. Volcano 1.14 counts them in its controllers' metrics, not in the status."""
    metrics = cluster.volcano.metrics(CONTROLLERS)
    return metrics.get(f'volcano_queue_pod_group_{phase}_count{{queue_name="{queue}"}}', 0)


def test_a_job_makes_one_pod_group_in_its_queue_and_runs(cluster: Cluster, space: Callable[..., Space]) -> None:
    own = space()
    queue = own.queue("jobs-own-queue")
    own.job("pair", 2, queue=queue)
    own.runs("pair", 2)
    group = own.group("pair")
    assert group
    assert (group["spec"]["queue"], group["spec"]["minMember"]) == (queue, 2)
    eventually(lambda: phase(own.group("pair")) == "Running")
    own.reaches("pair", "Running")


def test_a_job_without_a_queue_gets_the_default_one(space: Callable[..., Space]) -> None:
    own = space()
    created = own.job("plain")
    assert created["spec"]["queue"] == "default"
    own.runs("plain", 1)
    assert (own.group("plain") or {})["spec"]["queue"] == "default"


def test_a_pod_group_without_a_job_starts_all_its_pods_or_none(cluster: Cluster, space: Callable[..., Space]) -> None:
    own = space(cpus=2)
    group = {"spec": {"minMember": 3, "queue": "default"}}
    own.create({**objects.pod_group("gang", own.name), **group})
    for number in range(3):
        own.pod(f"gang-{number}", {GROUP_NAME: "gang"})
    never(lambda: cluster.running(own.name))
    assert phase(cluster.get("PodGroup", "gang", own.name)) in ("Pending", "Inqueue")
    more = objects.fake_node_of(own.name, "more", cpu="1")
    cluster.volcano.create_nodes([more])
    eventually(lambda: len(cluster.running(own.name)) == 3, lambda: cluster.events(own.name))
    eventually(lambda: phase(cluster.get("PodGroup", "gang", own.name)) == "Running")


def test_a_queue_counts_its_pod_groups_by_phase(cluster: Cluster, space: Callable[..., Space]) -> None:
    own = space(cpus=2)
    queue = own.queue("jobs-counted")
    own.job("fits", 2, queue=queue)
    own.runs("fits", 2)
    own.job("waits", 2, queue=queue)
    eventually(lambda: counted(cluster, queue, "running") == 1)
    eventually(lambda: counted(cluster, queue, "inqueue") + counted(cluster, queue, "pending") == 1)
    cluster.delete("Job", "fits", own.name)
    own.runs("waits", 2)
    eventually(lambda: counted(cluster, queue, "pending") + counted(cluster, queue, "inqueue") == 0)
    assert counted(cluster, queue, "running") == 1
