# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volcano's agent, with an image from an archive, and the scheduler's configuration in the same run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import agent, volcano
from ansible_collections.volcano.colocation.tests.system.agent import (
    FEATURES,
    LABELLED,
    batch_cpu,
    deploy,
    images,
    labels,
)
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node, lab
from ansible_collections.volcano.colocation.tests.system.workload import kubectl

LABEL = "volcano.sh/colocation"
DRIVERS = {"agent-v1": "cgroupfs", "agent-v2": "systemd"}
UNSUPPORTED = {"agent-v1": ("CPUQoS", "MemoryQoSV2"), "agent-v2": ("CPUQoS",)}
"""Features that a node does not have: CPUQoS needs openEuler's kernel, MemoryQoSV2 cgroup v2."""


@pytest.fixture(name="nodes", params=("agent-v1", "agent-v2"))
def _node(request: pytest.FixtureRequest, cluster: Cluster) -> Node:
    return {node.name: node for node in (cluster.first, cluster.second)}[request.param]


def test_check_mode_deploys_nothing(cluster: Cluster, settings: dict[str, Any]) -> None:
    before = kubectl("get", "namespaces", "-o", "name")
    run = deploy(cluster, settings, "--check", "--diff")
    assert run.code == 0, run.output
    assert "kind: DaemonSet" in run.output
    assert kubectl("get", "namespaces", "-o", "name") == before
    for node in (cluster.first, cluster.second):
        assert (images(node), labels(node.name)) == ([], {})


def test_the_agent_works_on_each_node(cluster: Cluster, settings: dict[str, Any]) -> None:
    """The run verifies it: Ready, it sees the pods' cgroup, and writes the values of a test pod."""
    run = deploy(cluster, settings, colocation_agent_smoke_test=True)
    assert run.code == 0, run.output
    for node in (cluster.first, cluster.second):
        assert images(node) == [settings["colocation_agent_image"]]
        assert labels(node.name)[LABEL] == "true"
        assert batch_cpu(node.name) > 0


def test_the_agent_has_the_settings_of_its_node(nodes: Node) -> None:
    process = agent.process(nodes)
    assert process.user == "1000"
    assert f"CGROUP_DRIVER={DRIVERS[nodes.name]}" in process.environment
    assert f"KUBE_NODE_NAME={nodes.name}" in process.environment
    features = ",".join(feature for feature in FEATURES if feature not in UNSUPPORTED[nodes.name])
    assert f"--supported-features={features}" in process.arguments
    mounts = process.mounts
    assert (mounts["/host/sys/fs"], mounts["/host/proc/stat"], mounts["/var/lib/kubelet"]) == ("rw", "ro", "ro")
    assert "burstable" in process.cgroup


def test_a_second_run_changes_nothing(cluster: Cluster, settings: dict[str, Any]) -> None:
    run = deploy(cluster, settings)
    assert run.code == 0, run.output
    for node in (cluster.first, cluster.second):
        assert run.recap(node.name)["changed"] == 0


def classes() -> set[str]:
    return {name for name in kubectl("get", "priorityclasses", "-o", "name").split() if "colocation" in name}


def scheduler_text() -> str:
    config_map = json.loads(kubectl("get", "configmap", volcano.MAP, "-n", volcano.SPACE, "-o", "json"))
    text: str = config_map["data"][volcano.KEY]
    return text


@pytest.fixture(scope="module", name="whole")
def _whole(settings: dict[str, Any]) -> dict[str, Any]:
    """Variables for agent and scheduler, in a cluster with stand-ins for Volcano's objects."""
    stand_ins = {"apiVersion": "v1", "kind": "List", "items": volcano.volcano()}
    lab("cluster", "kubectl", "--", "apply", "-f", "-", text=json.dumps(stand_ins))
    uid = kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
    return {
        **settings,
        "colocation_scheduler": True,
        "colocation_cluster_uid": uid,
        "colocation_scheduler_dropped_actions": ["enqueue"],
    }


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"colocation_agent_watermarks": {"cpu_high": 20, "cpu_low": 90}}, "evictingCPULowWatermark 90 has to be less"),
        ({"colocation_cluster_uid": "00000000-0000-4000-8000-000000000001"}, "The kubeconfig leads to the cluster"),
    ],
)
def test_a_refusal_of_the_agent_or_the_scheduler_is_one_of_both(
    cluster: Cluster, whole: dict[str, Any], variables: dict[str, Any], message: str
) -> None:
    """Otherwise the run would change the agent's verbosity, or create the classes."""
    before = kubectl("get", "daemonsets", "-n", volcano.SPACE, "-l", LABELLED, "-o", "json")
    run = deploy(cluster, whole, **{"colocation_agent_verbosity": 4, **variables})
    assert run.code != 0
    assert message in run.output
    assert (scheduler_text(), classes()) == (volcano.TEXT, set())
    after = kubectl("get", "daemonsets", "-n", volcano.SPACE, "-l", LABELLED, "-o", "json")
    assert specs(after) == specs(before)


def specs(daemon_sets: str) -> list[Any]:
    return [daemon_set["spec"] for daemon_set in json.loads(daemon_sets)["items"]]


def test_the_scheduler_is_set_up_in_the_same_run(cluster: Cluster, whole: dict[str, Any]) -> None:
    checked = deploy(cluster, whole, "--check", "--diff")
    assert checked.code == 0, checked.output
    assert "+actions: " in checked.output
    assert (scheduler_text(), classes()) == (volcano.TEXT, set())

    done = deploy(cluster, whole)
    assert done.code == 0, done.output
    assert 'actions: "allocate, backfill, preempt"' in scheduler_text()
    assert len(classes()) == 3

    again = deploy(cluster, whole)
    assert again.code == 0, again.output
    for node in (cluster.first, cluster.second):
        assert again.recap(node.name)["changed"] == 0
