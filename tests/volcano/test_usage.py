# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Load-aware scheduling with a real Prometheus: which Node a pod gets, and which it does not get."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.usage_data import CPU, MEMORY
from ansible_collections.volcano.colocation.tests.api.agent_hosts import KINDS, deploy
from ansible_collections.volcano.colocation.tests.api.apiserver import node as node_of_agent
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import monitoring as lab_monitoring
from ansible_collections.volcano.colocation.tests.lab.cluster.monitoring import (
    NODE_EXPORTER,
    PROMETHEUS,
    Monitoring,
    Target,
)
from ansible_collections.volcano.colocation.tests.lab.cluster.simulated_host import Load
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE, SCHEDULER
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import CONFIGURATION, Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import POOL, name_of, names, nodes_of, phase
from ansible_collections.volcano.colocation.tests.volcano.space import Space

HOSTNAME = "kubernetes.io/hostname"
CALM, BUSY, FULL = Load(0.1, 0.1), Load(0.75, 0.1), Load(0.1, 0.9)
CPU_MESSAGE = "the CPU load of the node exceeds the upper limit."
MEMORY_MESSAGE = "the memory load of the node exceeds the upper limit."
"""volcano pkg/scheduler/plugins/usage/usage.go."""
QUERIES = 2
"""Queries of the scheduler for each Node."""


class Usage:
    """Nodes, their load, and the configuration of the plugin."""

    def __init__(self, cluster: Cluster, monitoring: Monitoring) -> None:
        self.cluster, self.monitoring = cluster, monitoring
        self._configured: dict[str, Any] | None = None

    def configure(self, **usage: Any) -> None:
        """Have the role's result on upstream's configuration, with these values of colocation_scheduler_usage."""
        if self._configured != usage:
            self.run_role(UPSTREAM, **usage)
            self._configured = usage

    def run_role(self, text: str | None = None, **usage: Any) -> str:
        """Run the role on a configuration, the current one by default; the configuration after it."""
        self._configured = None
        return self.cluster.configure(text, **self.variables(**usage))

    def variables(self, **usage: Any) -> dict[str, Any]:
        metrics = {"address": self.monitoring.url, "interval": "250ms"}
        return {"colocation_scheduler_usage": usage, "colocation_scheduler_metrics": metrics}

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
    usage.configure(cpu=60, memory=80)
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
    asking.configure(cpu=60, memory=80)
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
    asking.configure(cpu=60, memory=80)
    asking.load(**{known: Load(0.3, 0.3)})
    own.job("no-data", 2)
    assert nodes_of(own.runs("no-data", 2)) == [unknown] * 2
    loads: dict[str, Any] = {known: BUSY, unknown: Target(BUSY, relabel=())}
    asking.load(**loads)
    pinned(own, "other-label", unknown)
    runs(own, "other-label")
    pinned(own, "waiting", known)
    waits(own, "waiting", CPU_MESSAGE)
    asking.monitoring.stop()
    runs(own, "waiting")


def test_young_data_count_as_full(asking: Usage, space: Callable[..., Space]) -> None:
    own = space()
    (node,) = nodes(own)
    asking.configure(cpu=60, memory=80)
    asking.load(**{node: Target(CALM, age=90)})
    pinned(own, "waiting", node)
    waits(own, "waiting", CPU_MESSAGE)
    asking.load(**{node: CALM})
    runs(own, "waiting")


@pytest.fixture(name="eviction")
def _eviction(cluster: Cluster) -> Iterator[Callable[..., dict[str, Any]]]:
    """Runs agent_deploy with these options; the objects that then switch eviction on or off."""
    server = cluster.server
    server.create(map(node_of_agent, KINDS))

    def deploy_agent(**options: Any) -> dict[str, Any]:
        if options:
            run = deploy(server, **options)
            assert run.code == 0, run.output
        objects = server.items("daemonsets,configmaps", "-n", NAMESPACE)
        return {name_of(item): item.get("spec") or item["data"] for item in objects if "agent" in name_of(item)}

    yield deploy_agent
    deploy_agent(state="absent")
    for name in KINDS:
        cluster.delete("Node", name)


def test_load_aware_scheduling_and_eviction_are_switched_independently(
    asking: Usage, space: Callable[..., Space], eviction: Callable[..., dict[str, Any]]
) -> None:
    own, cluster = space(), asking.cluster
    (node,) = nodes(own)
    evicting = eviction(features=["OverSubscription", "Resources", "Eviction"], watermarks={"cpu_high": 70})
    assert evicting

    asking.configure(cpu=60, memory=80)
    text = cluster.volcano.scheduler_config.read_text()
    asking.load(**{node: BUSY})
    pinned(own, "waiting", node)
    waits(own, "waiting", CPU_MESSAGE)
    assert "name: usage" not in asking.run_role(enabled=False)
    runs(own, "waiting")
    assert eviction() == evicting

    assert asking.run_role(cpu=60, memory=80) == text
    assert eviction(features=["OverSubscription", "Resources"], watermarks={"cpu_high": 90}) != evicting
    again = cluster.play(**CONFIGURATION, **asking.variables(cpu=60, memory=80))
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output
    assert cluster.volcano.scheduler_config.read_text() == text
    asking.wait()
    pinned(own, "waiting-again", node)
    waits(own, "waiting-again", CPU_MESSAGE)


def findings(run: Run) -> list[str]:
    """The codes that the entry preflight shows, without their beginning."""
    return re.findall(r"scheduler-usage-([a-z-]+): ", run.output)


def test_the_preflight_says_what_the_scheduler_reads(asking: Usage, space: Callable[..., Space]) -> None:
    own, cluster = space(nodes=3), asking.cluster
    good, young, other = nodes(own)

    def preflight(*arguments: str, **variables: Any) -> list[str]:
        run = cluster.play("preflight", *arguments, **variables)
        assert (run.code, run.recap("localhost")["changed"]) == (0, 0), run.output
        return findings(run)

    asking.configure(cpu=60, memory=80)
    loads: dict[str, Any] = {good: CALM, young: Target(CALM, age=90), other: Target(BUSY, relabel=())}
    asking.load(**loads)
    run = cluster.play("preflight")
    # The Nodes of the cluster's own pods have no data either.
    assert findings(run) == ["instance-unknown", "data-missing", "data-young"]
    assert f"{good}: CPU 10.0 %, memory 10.0 %" in run.output
    assert f"{other}: CPU no data, memory no data" in run.output
    assert re.search(rf"Nodes without data: (\S+, )*{other}", run.output)
    asking.monitoring.set({name: Target(CALM) for name in names(cluster.items("Node"))})
    assert preflight() == preflight("--check") == []
    asking.monitoring.stop()
    assert preflight() == ["source-unreachable"]


def test_the_queries_of_the_preflight_are_those_of_the_scheduler(asking: Usage, space: Callable[..., Space]) -> None:
    """Prometheus logs what the scheduler asks; the preflight asks the same for all Nodes together."""
    (node,) = nodes(space())
    asking.configure(cpu=60, memory=80)
    asking.monitoring.set({node: Target(CALM)}, log_queries=True)
    asking.wait()
    asked = [query for query in asking.monitoring.logged_queries() if f'"{node}"' in query]
    of_all = {query.replace(f'{{instance="{node}"}}', "").replace(f',instance="{node}"', "") for query in asked}
    assert of_all == {CPU, MEMORY}


def test_a_service_is_asked_through_the_api_server(asking: Usage, space: Callable[..., Space]) -> None:
    """The API server sends requests only to pods, and not to 127.0.0.1: a pod on paper has this machine's address."""
    own, cluster = space(), asking.cluster
    asking.monitoring.stop()
    first = asking.monitoring
    monitoring = Monitoring(first.programs, first.directory.parent, first.uuid, address_of_this_machine())
    own.pod("prometheus")
    runs(own, "prometheus")
    pod = ("pod/prometheus", "-n", own.name)
    address = {"podIP": monitoring.host, "podIPs": [{"ip": monitoring.host}]}
    cluster.server.kubectl("label", *pod, "app=prometheus")
    cluster.server.kubectl("patch", *pod, "--subresource=status", "--type=merge", "-p", json.dumps({"status": address}))
    ports = [{"port": 9090, "targetPort": monitoring.port}]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "prometheus", "namespace": own.name}}
    cluster.server.create([{**service, "spec": {"ports": ports, "selector": {"app": "prometheus"}}}])
    eventually(lambda: monitoring.host in cluster.server.kubectl("get", "endpoints", "-n", own.name, "-o", "yaml"))
    metrics = {"address": f"http://prometheus.{own.name}.svc:9090"}

    def preflight() -> list[str]:
        run = cluster.play("preflight", colocation_scheduler_metrics=metrics)
        assert run.code == 0, run.output
        return findings(run)

    assert preflight() == ["source-unreachable"]
    monitoring.set({name: Target(CALM) for name in names(cluster.items("Node"))})
    try:
        assert preflight() == []
    finally:
        monitoring.stop()


def address_of_this_machine() -> str:
    """The address from which a packet would leave it; none is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


def test_the_page_names_the_programs_that_ran(monitoring: Monitoring) -> None:
    versions = {name: version.partition("+")[0] for name, version in monitoring.versions().items()}
    ran = f"Prometheus {versions[PROMETHEUS]} and node_exporter {versions[NODE_EXPORTER]} of Debian 12"
    assert ran in (CHECKOUT / "docs" / "scheduler.md").read_text()
