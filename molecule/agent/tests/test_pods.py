# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's values of offline pods, in the node's kernel, and after faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system import offline_pods
from ansible_collections.volcano.colocation.tests.system.agent import PROGRAM, batch_cpu
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node, lab
from ansible_collections.volcano.colocation.tests.system.offline_pods import (
    BATCH,
    EXPECTED,
    IDLE,
    OFFLINE,
    until,
    values,
)
from ansible_collections.volcano.colocation.tests.system.workload import kubectl

KINDS = {"agent-v1": ("v1", "cgroupfs"), "agent-v2": ("v2", "systemd")}
AFTER_A_FAULT, AFTER_A_REBOOT = 60.0, 180.0
"""Seconds after which the values are right again."""


def create(name: str, node: Node) -> None:
    resources = {"requests": BATCH, "limits": BATCH}
    offline_pods.create_pod(name, node, offline_pods.template("old", resources, IDLE, OFFLINE))


def right(name: str, node: Node) -> bool:
    kind = KINDS[node.name]
    return values(node, name, kind) == EXPECTED[kind[0]]


@pytest.fixture(scope="module", name="pods", autouse=True)
def _pods(cluster: Cluster) -> Iterator[None]:
    """An offline pod on each node, which has its values."""
    nodes = (cluster.first, cluster.second)
    until(lambda: all(batch_cpu(node.name) >= 200 for node in nodes))
    for node in nodes:
        create(f"old-{node.name}", node)
    for node in nodes:
        until(lambda node=node: right(f"old-{node.name}", node))
    yield
    offline_pods.delete("old")


@pytest.mark.parametrize(
    "command",
    [
        "systemctl restart kubelet",
        "systemctl restart containerd",
        f"kill -9 $(pidof {PROGRAM})",
    ],
)
def test_old_and_new_pods_have_their_values_after_a_fault(cluster: Cluster, command: str) -> None:
    for node in (cluster.first, cluster.second):
        node.shell(command)
        assert right(f"old-{node.name}", node)
        create(f"new-{node.name}", node)
    for node in (cluster.first, cluster.second):
        until(lambda node=node: right(f"new-{node.name}", node), AFTER_A_FAULT)
        assert right(f"old-{node.name}", node)
        kubectl("delete", "pod", f"new-{node.name}")


def test_systemd_reverts_the_values_of_all_pods_when_one_starts_after_a_reload(cluster: Cluster) -> None:
    """The agent writes to cgroups without systemd, and does not write again before the pod changes (docs/agent.md)."""
    node = cluster.second
    node.shell("systemctl daemon-reload")
    assert right(f"old-{node.name}", node)
    create("starting", node)
    until(lambda: right("starting", node), AFTER_A_FAULT)
    assert values(node, f"old-{node.name}", KINDS[node.name]) == ("1", "max 100000")
    kubectl("annotate", "pod", f"old-{node.name}", "example.com/changed=true")
    until(lambda: right(f"old-{node.name}", node), AFTER_A_FAULT)


def test_pods_have_their_values_after_a_reboot(cluster: Cluster) -> None:
    node = cluster.second
    lab("reboot", node.name)
    until(lambda: right(f"old-{node.name}", node), AFTER_A_REBOOT)
