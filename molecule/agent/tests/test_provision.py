# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver of a node changes while the agent runs: the node gets another pool, and the agent the new paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import agent, offline_pods
from ansible_collections.volcano.colocation.tests.system.agent import batch_cpu, deploy, labels
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.offline_pods import BATCH, EXPECTED, IDLE, OFFLINE, until

POOL = "colocation.volcano.sh/pool"
CHANGE = {
    "colocation_cgroup_driver": "systemd",
    "colocation_system_reserved": {"cpu": "500m"},
    "colocation_nri_unsupported": "skip",
    "colocation_allow_disruption": True,
    "colocation_drain": True,
    "colocation_drain_timeout": 240,
}


@pytest.fixture(name="offline")
def _offline(cluster: Cluster) -> Iterator[str]:
    """An offline pod of a Deployment on the node whose driver changes, which the drain evicts."""
    until(lambda: batch_cpu(cluster.first.name) >= 200)
    spec = {"nodeSelector": {"kubernetes.io/hostname": cluster.first.name}}
    pod = offline_pods.template("moving", {"requests": BATCH, "limits": BATCH}, IDLE, OFFLINE, **spec)
    offline_pods.create_deployment("moving", pod)
    until(lambda: offline_pods.places("moving"))
    yield "moving"
    offline_pods.delete("moving")


def test_the_agent_follows_the_driver_of_its_node(cluster: Cluster, settings: dict[str, Any], offline: str) -> None:
    node = cluster.first
    before = labels(node.name)[POOL]
    changed = cluster.ansible("provision", "--limit", node.name, **CHANGE)
    assert changed.code == 0, changed.output
    run = deploy(cluster, settings)
    assert run.code == 0, run.output
    pool = labels(node.name)[POOL]
    assert (before.split("-")[:2], pool.split("-")[:2]) == (["v1", "cgroupfs"], ["v1", "systemd"])
    assert "CGROUP_DRIVER=systemd" in agent.process(node).environment
    assert node.shell("find /sys/fs/cgroup -type d -name kubepods") == ""

    until(lambda: offline_pods.places(offline))
    name = offline_pods.kubectl("get", "pods", "-l", f"app={offline}", "-o", "jsonpath={.items[0].metadata.name}")
    until(lambda: offline_pods.values(node, name, ("v1", "systemd")) == EXPECTED["v1"])
