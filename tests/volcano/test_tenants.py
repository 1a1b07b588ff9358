# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two namespaces with a queue each."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.space import Space


def test_two_tenants_do_not_take_each_others_share(cluster: Cluster, space: Callable[..., Space]) -> None:
    """Each may use idle resources of the other, and gets its own half back; high priority does not change that."""
    cluster.configure(UPSTREAM, colocation_scheduler_reclaim=True)
    first, second = space(cpus=4), space(nodes=0)
    first.priorities(high=1000)
    for name in ("first", "second"):
        first.queue(name, weight=1)

    def job(tenant: Space, queue: str, **options: str) -> None:
        task = objects.task(replicas=4, pod=objects.pod_spec(pool=first.name))
        tenant.create(objects.job("work", tenant.name, task, minimum=1, queue=queue, **options))

    job(first, "first")
    first.runs("work", 4)
    job(second, "second", priorityClassName="high")
    eventually(lambda: (len(first.running()), len(second.running())) == (2, 2))
    never(lambda: (len(first.running()), len(second.running())) != (2, 2))
