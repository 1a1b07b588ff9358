# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs end and come back: scheduling is right again within 60 s, and nothing that the role wrote is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster import control_plane, daemons
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import CONTROLLERS, SCHEDULER, WEBHOOKS
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import (
    CONFIGURATION,
    Cluster,
    RefusedError,
    never,
)
from ansible_collections.volcano.colocation.tests.volcano.space import Space

RECOVERED = 60.0
"""Seconds after which scheduling is right again."""
QUEUES: dict[str, Any] = {"colocation_queues": [{"name": "kept", "weight": 3}]}


@pytest.fixture(name="own")
def _own(cluster: Cluster, space: Callable[..., Space]) -> Iterator[Space]:
    """A job that runs in a queue of the role; in the end the role's second run changes nothing."""
    cluster.configure(UPSTREAM, **QUEUES)
    own = space(cpus=3)
    own.adopt("Queue", "kept")
    own.wait_for_queue("kept")
    own.job("before", queue="kept")
    own.runs("before", 1)
    yield own
    cluster.volcano.start()
    again = cluster.play(**CONFIGURATION, **QUEUES)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


def test_the_scheduler_is_killed(cluster: Cluster, own: Space) -> None:
    cluster.volcano.stop(SCHEDULER)
    own.job("after", queue="kept")
    never(lambda: own.running("after"), 2)
    cluster.volcano.start(SCHEDULER)
    own.runs("after", 1, RECOVERED)
    own.runs("before", 1)


def test_the_controllers_are_killed(cluster: Cluster, own: Space) -> None:
    cluster.volcano.stop(CONTROLLERS)
    own.job("after", queue="kept")
    never(lambda: cluster.pods(own.name, "after"), 2)
    cluster.volcano.start(CONTROLLERS)
    own.runs("after", 1, RECOVERED)


def test_the_webhooks_are_down(cluster: Cluster, own: Space) -> None:
    """New jobs are refused with the reason; pods of jobs that exist are still scheduled."""
    cluster.volcano.stop(WEBHOOKS)
    with pytest.raises(RefusedError, match="failed calling webhook"):
        own.job("refused", queue="kept")
    cluster.delete("Pod", "before-main-0", own.name)
    own.runs("before", 1)
    cluster.volcano.start(WEBHOOKS)
    own.job("after", queue="kept")
    own.runs("after", 1, RECOVERED)


@pytest.mark.parametrize("program", ["kube-apiserver", "etcd"])
def test_a_program_of_the_control_plane_restarts(cluster: Cluster, own: Space, program: str) -> None:
    daemons.end(cluster.volcano.plane.uuid, program)
    control_plane.up()
    cluster.volcano.start()
    own.job("after", queue="kept")
    own.runs("after", 1, RECOVERED)
    own.runs("before", 1)
