# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Load-aware scheduling with a real Prometheus: which Node a pod gets, and which it does not get."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import monitoring as lab_monitoring
from ansible_collections.volcano.colocation.tests.lab.cluster.monitoring import Monitoring, Target
from ansible_collections.volcano.colocation.tests.lab.cluster.simulated_host import Load
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import SCHEDULER
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import POOL, names, nodes_of, phase
from ansible_collections.volcano.colocation.tests.volcano.space import Space

HOSTNAME = "kubernetes.io/hostname"
CALM, BUSY, FULL = Load(0.1, 0.1), Load(0.9, 0.1), Load(0.1, 0.9)
CPU_MESSAGE = "the CPU load of the node exceeds the upper limit."
MEMORY_MESSAGE = "the memory load of the node exceeds the upper limit."
"""volcano pkg/scheduler/plugins/usage/usage.go."""
QUERIES = 2
"""Queries of the scheduler for each Node."""
AGENT_CONFIG = ("volcano-agent-configuration", "colocation-config")


class Usage:
    """Nodes, their load, and the configuration of the plugin."""

    def __init__(self, cluster: Cluster, monitoring: Monitoring) -> None:
        self.cluster, self.monitoring = cluster, monitoring

    def configure(self, **usage: Any) -> None:
        """Run the role on upstream's configuration with these values of colocation_scheduler_usage."""
        metrics = {"address": self.monitoring.url, "interval": "500ms"}
        self.cluster.configure(UPSTREAM, colocation_scheduler_usage=usage, colocation_scheduler_metrics=metrics)

    def load(self, **targets: Load | Target) -> None:
        """Set the load of Nodes, with _ for - in their names, and wait until the scheduler knows it."""
        made = {name.replace("_", "-"): load for name, load in targets.items()}
        self.monitoring.set({name: Target(load) if isinstance(load, Load) else load for name, load in made.items()})
        self.wait()

    def wait(self) -> None:
        """Wait until the scheduler has asked for every Node at least once from the beginning to the end.

        The first round may have begun before, so the second one and the beginning of the third have to be over.
        """
        rounds = 2 * QUERIES * len(self.cluster.items("Node"))
        goal = self.monitoring.answered_queries() + rounds + 1
        eventually(lambda: self.monitoring.answered_queries() >= goal)


@pytest.fixture(scope="module", name="monitoring")
def _monitoring(cluster: Cluster) -> Iterator[Monitoring]:
    plane = cluster.volcano.plane
    monitoring = Monitoring(lab_monitoring.obtain(Cache(cache_root())), plane.directory, plane.uuid)
    yield monitoring
    monitoring.stop()


@pytest.fixture(scope="module", name="asking")
def _asking(cluster: Cluster, monitoring: Monitoring) -> Iterator[Usage]:
    """The scheduler reads the interval of its queries only when it starts."""
    usage = Usage(cluster, monitoring)
    usage.configure()
    _restart(cluster)
    yield usage
    cluster.configure(UPSTREAM)
    _restart(cluster)


def _restart(cluster: Cluster) -> None:
    cluster.volcano.stop(SCHEDULER)
    cluster.volcano.start(SCHEDULER)


def nodes(space: Space) -> list[str]:
    return names(space.cluster.items("Node", selector=f"{POOL}={space.name}"))


def pinned(space: Space, name: str, node: str) -> None:
    """Create a pod that only one Node can run."""
    space.pod(name, nodeSelector={HOSTNAME: node})


def waits(space: Space, name: str, message: str) -> None:
    """A pod stays pending for this reason."""
    eventually(lambda: message in space.cluster.events(space.name), lambda: space.cluster.events(space.name))
    assert phase(space.cluster.get("Pod", name, space.name)) == "Pending"


def runs(space: Space, *pods: str) -> None:
    eventually(lambda: set(pods) <= set(space.running()), lambda: space.cluster.events(space.name))


def score(weights: dict[str, int], load: Load) -> float:
    """The plugin's formula, without its own weight."""
    free = {"cpu_weight": 1 - load.cpu, "memory_weight": 1 - load.memory}
    return sum(weights[name] * free[name] for name in weights) / sum(weights.values())


def test_the_weights_of_cpu_and_memory_decide(asking: Usage, space: Callable[..., Space]) -> None:
    own = space(nodes=2)
    loads = dict(zip(nodes(own), (Load(0.7, 0.1), Load(0.1, 0.7)), strict=True))
    asking.load(**loads)
    chosen = []
    for number, weights in enumerate(({"cpu_weight": 10, "memory_weight": 1}, {"cpu_weight": 1, "memory_weight": 10})):
        asking.configure(cpu=100, memory=100, **weights)
        own.job(f"weighed-{number}", 2)
        best = max(loads, key=lambda name: score(weights, loads[name]))
        assert nodes_of(own.runs(f"weighed-{number}", 2)) == [best] * 2
        chosen.append(best)
    assert len(set(chosen)) == 2


def test_a_node_above_a_threshold_gets_no_pods_and_keeps_its_own(asking: Usage, space: Callable[..., Space]) -> None:
    own = space(nodes=3)
    busy, full, calm = nodes(own)
    asking.configure(cpu=60, memory=60)
    asking.load(**{busy: CALM, full: CALM, calm: CALM})
    pinned(own, "before-busy", busy)
    pinned(own, "before-full", full)
    runs(own, "before-busy", "before-full")
    asking.load(**{busy: BUSY, full: FULL, calm: CALM})
    pinned(own, "after-busy", busy)
    waits(own, "after-busy", CPU_MESSAGE)
    pinned(own, "after-full", full)
    waits(own, "after-full", MEMORY_MESSAGE)
    own.job("elsewhere", 2)
    assert nodes_of(own.runs("elsewhere", 2)) == [calm] * 2
    runs(own, "before-busy", "before-full")
    asking.load(**{busy: CALM, full: CALM, calm: CALM})
    runs(own, "after-busy", "after-full")


def test_a_node_without_data_counts_as_idle(asking: Usage, space: Callable[..., Space]) -> None:
    """No data, another instance label, or no Prometheus: the threshold is ignored, and the Node gets pods first."""
    own = space(nodes=2)
    known, unknown = nodes(own)
    asking.configure(cpu=60, memory=60)
    asking.load(**{known: Load(0.3, 0.3)})
    own.job("no-data", 2)
    assert nodes_of(own.runs("no-data", 2)) == [unknown] * 2
    asking.load(**{known: BUSY, unknown: Target(BUSY, relabel=())})
    pinned(own, "other-label", unknown)
    runs(own, "other-label")
    pinned(own, "waiting", known)
    waits(own, "waiting", CPU_MESSAGE)
    asking.monitoring.stop()
    runs(own, "waiting")


def test_young_data_count_as_full(asking: Usage, space: Callable[..., Space]) -> None:
    own = space()
    (node,) = nodes(own)
    asking.configure(cpu=60, memory=60)
    asking.load(**{node: Target(CALM, age=90)})
    pinned(own, "waiting", node)
    waits(own, "waiting", CPU_MESSAGE)
    asking.load(**{node: CALM})
    runs(own, "waiting")
