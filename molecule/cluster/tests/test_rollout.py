# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout in a cluster with a workload whose budget requires one of its two pods. The order matters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import workload
from ansible_collections.volcano.colocation.tests.system.availability import Watch, watched
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node, Run
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

LEAST, REPLICAS = 1, 2
SECONDS = 300.0
DRAINING = {"colocation_drain": True, "colocation_drain_timeout": 240, "colocation_rollout_batches": [1, "100%"]}
CONFIG = "/var/lib/kubelet/config.yaml"
REFUSING = "/etc/systemd/system/kubelet.service.d/90-refuses.conf"


@pytest.fixture(scope="module", name="availability")
def _availability(cluster: Cluster) -> Iterator[Watch]:
    workload.start(REPLICAS)
    workload.keep(LEAST)
    with watched() as watch:
        yield watch
    workload.stop()


@pytest.fixture(autouse=True)
def _always(availability: Watch) -> Iterator[None]:
    """The workload is available during every test."""
    yield
    assert availability.lasts()
    assert min(availability.counts) >= LEAST, availability.counts


def roll(cluster: Cluster, *arguments: str, **variables: Any) -> Run:
    return cluster.ansible("provision", *arguments, **DRAINING, **variables)


def cordons(node: Node) -> tuple[bool, bool]:
    """(whether the Node is cordoned, whether a rollout cordoned it)."""
    unschedulable, mark = workload.scheduling(node.name)
    return unschedulable == "true", bool(mark)


def wait_until(is_so: Callable[[], bool], output_file: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, output_file.read_text()
        time.sleep(1)


def test_check_mode_shows_the_whole_rollout_and_changes_nothing(cluster: Cluster) -> None:
    before, places = cluster.state(), workload.places()
    assert sorted(places.values()) == [cluster.first.name, cluster.second.name]
    run = roll(cluster, "--check", "--diff")
    assert run.code == 0, run.output
    for number, node in enumerate((cluster.first, cluster.second), start=1):
        assert f"batch {number} of 2\n  {node.name}: drained of 1 pod(s), then changed" in run.output
        assert run.recap(node.name)["changed"] > 0
        assert cordons(node) == (False, False)
    assert "2 nodes in the rollout: 2 would change" in run.output
    assert (cluster.state(), workload.places()) == (before, places)


def test_a_node_that_fails_is_rolled_back_and_stops_the_rollout(cluster: Cluster) -> None:
    """Its owner cordoned it, and it stays cordoned."""
    workload.kubectl("cordon", cluster.first.name)
    refuse_reservations(cluster.first)
    before = cluster.state()
    run = roll(cluster, colocation_health_timeout=90)
    assert run.code != 0, run.output
    assert f"{cluster.first.name}  rolled back" in run.output
    assert "2 nodes in the rollout: 1 rolled back, 1 not touched" in run.output
    assert cordons(cluster.first) == (True, False)
    assert cordons(cluster.second) == (False, False)
    after = cluster.state()
    assert after[cluster.first.name][0] == before[cluster.first.name][0]
    assert after[cluster.second.name] == before[cluster.second.name]
    assert set(workload.places().values()) == {cluster.second.name}
    accept_again(cluster.first)


def test_a_run_is_killed_during_the_rollout(cluster: Cluster) -> None:
    """One node is changed, and the evicted pod of the other one cannot be scheduled."""
    before = cluster.second.tree(), cluster.second.services()
    with cluster.begun("provision", **DRAINING) as output_file:
        wait_until(lambda: cordons(cluster.second) == (True, True) and "" in workload.places().values(), output_file)
    assert aligned(cluster.first, "cgroupfs")
    assert cordons(cluster.first) == (True, False)
    assert cordons(cluster.second) == (True, True)
    assert (cluster.second.tree(), cluster.second.services()) == before


def test_the_next_run_continues_where_the_last_one_stopped(cluster: Cluster) -> None:
    workload.kubectl("uncordon", cluster.first.name)
    before = cluster.first.tree(), cluster.first.services()
    run = roll(cluster)
    assert run.code == 0, run.output
    assert f"batch 1 of 1\n  {cluster.second.name}: drained of " in run.output
    assert aligned(cluster.second, "systemd")
    assert cordons(cluster.second) == (False, False)
    assert cordons(cluster.first) == (False, False)
    assert (cluster.first.tree(), cluster.first.services()) == before
    workload.wait_for(REPLICAS)


def test_a_further_run_changes_nothing(cluster: Cluster) -> None:
    before, places = cluster.state(), workload.places()
    run = roll(cluster)
    assert run.code == 0, run.output
    for node in (cluster.first, cluster.second):
        assert run.recap(node.name)["changed"] == 0
    assert (cluster.state(), workload.places()) == (before, places)


def test_pods_were_evicted(availability: Watch) -> None:
    """Check that the watch recorded changes."""
    assert LEAST in availability.counts
    assert availability.counts[-1] == REPLICAS


def aligned(node: Node, driver: str) -> bool:
    """Whether the containers' cgroups are those of the driver."""
    return qos_classes(node.containers(), driver) == QOS_CLASSES


def refuse_reservations(node: Node) -> None:
    """Make kubelet refuse to start with the settings that provision writes."""
    node.shell(f"! grep -q systemReserved {CONFIG}")
    text = f"[Service]\\nExecStartPre=/bin/sh -c '! grep -q systemReserved {CONFIG}'\\n"
    node.shell(f'mkdir -p $(dirname {REFUSING}); printf "{text}" > {REFUSING}; systemctl daemon-reload')


def accept_again(node: Node) -> None:
    node.shell(f"rm {REFUSING}; systemctl daemon-reload; systemctl restart kubelet")
