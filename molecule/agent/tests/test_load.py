# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Online load on a node with an offline pod: throttling, eviction, and the way back."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system import offline_pods
from ansible_collections.volcano.colocation.tests.system.agent import batch_cpu, node_object
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node
from ansible_collections.volcano.colocation.tests.system.offline_pods import BATCH, BUSY, OFFLINE, until
from ansible_collections.volcano.colocation.tests.system.workload import kubectl

TAINT = "volcano.sh/offline-job-evicting"
QUOTA = {
    "agent-v1": "/sys/fs/cgroup/cpu,cpuacct/kubepods/besteffort/cpu.cfs_quota_us",
    "agent-v2": "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/cpu.max",
}
LEAST_QUOTA = "1000"
"""Microseconds of 100,000: the kernel's minimum, to which the agent throttles the class of offline pods."""


def tainted(node: Node) -> bool:
    return TAINT in [taint["key"] for taint in node_object(node.name)["spec"].get("taints", [])]


def quota(node: Node) -> str:
    """The quota of the class of offline pods."""
    return node.shell(f"cat {QUOTA[node.name]}").split()[0]


@pytest.fixture(name="place")
def _place(cluster: Cluster) -> Iterator[tuple[Node, Node]]:
    """The node of an offline pod that keeps two CPUs busy, and the other node."""
    nodes = (cluster.first, cluster.second)
    until(lambda: all(batch_cpu(node.name) >= 200 for node in nodes))
    resources = {"requests": BATCH, "limits": BATCH}
    offline_pods.create_deployment("offline", offline_pods.template("offline", resources, BUSY, OFFLINE))
    (name,) = until(lambda: offline_pods.places("offline"))
    yield nodes if nodes[0].name == name else (nodes[1], nodes[0])
    offline_pods.delete("online")
    offline_pods.delete("offline")


def test_offline_pods_leave_a_node_with_online_load(place: tuple[Node, Node]) -> None:
    node, other = place
    assert not tainted(node)
    assert quota(node) != LEAST_QUOTA
    started = time.monotonic()
    online = offline_pods.template("online", {"requests": {"cpu": "100m"}}, BUSY)
    offline_pods.create_pod("online", node, online)
    until(lambda: quota(node) == LEAST_QUOTA)
    throttled = time.monotonic() - started
    until(lambda: tainted(node))
    evicting = time.monotonic() - started
    until(lambda: offline_pods.places("offline") == [other.name])
    replaced = time.monotonic() - started
    print(
        f"{node.name}: throttled after {throttled:.0f} s, taint after {evicting:.0f} s, replaced after {replaced:.0f} s"
    )

    kubectl("delete", "pod", "online")
    ended = time.monotonic()
    until(lambda: not tainted(node) and quota(node) != LEAST_QUOTA and batch_cpu(node.name) >= 200)
    print(f"{node.name}: capacity returned {time.monotonic() - ended:.0f} s after the load")
