# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role agent with an image from an archive, on the nodes that the rollout has aligned. The order matters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import stand_in, volcano
from ansible_collections.volcano.colocation.tests.system.cluster import Cluster
from ansible_collections.volcano.colocation.tests.system.node import Node, Run, lab
from ansible_collections.volcano.colocation.tests.system.workload import kubectl

LABEL = "volcano.sh/colocation"
LABELLED = "app.kubernetes.io/name=volcano-agent"
DRIVERS = {"cluster-v1": "cgroupfs", "cluster-v2": "systemd"}
TREES = {
    "cluster-v1": "/host/sys/fs/cgroup/cpu/kubepods/besteffort/pod",
    "cluster-v2": "/host/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod",
}


@pytest.fixture(scope="module", name="settings")
def _settings(cluster: Cluster) -> dict[str, Any]:
    path = cluster.directory / "vc-agent.tar"
    stand_in.archive(cluster.second, path)
    return {
        "colocation_agent_image": stand_in.IMAGE,
        "colocation_agent_image_archive": str(path),
        "colocation_agent_features": ["Resources", "CPUQoS", "CPUBurst", "MemoryQoSV2"],
        "colocation_agent_label_nodes": True,
    }


@pytest.fixture(name="nodes", params=("cluster-v1", "cluster-v2"))
def _node(request: pytest.FixtureRequest, cluster: Cluster) -> Node:
    return {node.name: node for node in (cluster.first, cluster.second)}[request.param]


def images(node: Node) -> list[str]:
    return [name for name in node.shell("ctr -n k8s.io images list -q").splitlines() if "vc-agent" in name]


def labels(node: str) -> dict[str, str]:
    node_labels: dict[str, str] = json.loads(kubectl("get", "node", node, "-o", "json"))["metadata"]["labels"]
    return {key: value for key, value in node_labels.items() if "volcano" in key}


def deploy(cluster: Cluster, settings: dict[str, Any], *arguments: str, **variables: Any) -> Run:
    return cluster.ansible("cluster", *arguments, **{**settings, **variables})


def test_check_mode_deploys_nothing(cluster: Cluster, settings: dict[str, Any]) -> None:
    before = kubectl("get", "namespaces", "-o", "name")
    run = deploy(cluster, settings, "--check", "--diff")
    assert run.code == 0, run.output
    assert "kind: DaemonSet" in run.output
    assert kubectl("get", "namespaces", "-o", "name") == before
    for node in (cluster.first, cluster.second):
        assert (images(node), labels(node.name)) == ([], {})


def test_the_agent_is_ready_on_each_node(cluster: Cluster, settings: dict[str, Any]) -> None:
    """The run itself verifies it: Ready on each Node, with the cgroup root of a running pod."""
    run = deploy(cluster, settings)
    assert run.code == 0, run.output
    for node in (cluster.first, cluster.second):
        assert images(node) == [stand_in.IMAGE]
        assert labels(node.name)[LABEL] == "true"


def test_the_agent_has_the_settings_of_its_node(nodes: Node) -> None:
    report = stand_in.logged(nodes, "volcano-agent")
    assert report["user"] == ["1000"]
    assert f"CGROUP_DRIVER={DRIVERS[nodes.name]}" in report["environment"]
    assert f"KUBE_NODE_NAME={nodes.name}" in report["environment"]
    features = {"cluster-v1": "Resources,CPUBurst", "cluster-v2": "Resources,CPUBurst,MemoryQoSV2"}[nodes.name]
    assert f"--supported-features={features}" in report["argument"]
    mounted = {line.split()[4]: line.split()[5].split(",")[0] for line in report["mount"]}
    assert (mounted["/host/sys/fs"], mounted["/host/proc/stat"], mounted["/var/lib/kubelet"]) == ("rw", "ro", "ro")
    # Its mount has the live cgroups of the node's pods, at the paths of its driver and root.
    assert [path for path in report["pod"] if path.startswith(TREES[nodes.name])]
    assert f"cgroupDriver: {DRIVERS[nodes.name]}" in report["kubelet"]
    assert stand_in.logged(nodes, "volcano-agent-init")["user"] == ["0"]


def test_the_agents_pod_is_not_best_effort(nodes: Node) -> None:
    assert "burstable" in nodes.shell("cat /proc/$(pidof httpd)/cgroup")


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


def test_an_agent_that_writes_nothing_is_reported(cluster: Cluster, settings: dict[str, Any]) -> None:
    """The values of the test pod are read, and the stand-in has written none."""
    run = deploy(cluster, settings, colocation_agent_smoke_test=True)
    assert run.code != 0, run.output
    assert "the agent did not write " in run.output
    assert kubectl("get", "pods", "-n", "volcano-system", "-l", LABELLED, "-o", "name").count("pod/") == 2


def test_the_removal_leaves_nothing(cluster: Cluster, settings: dict[str, Any]) -> None:
    run = deploy(cluster, settings, colocation_agent_state="absent")
    assert run.code == 0, run.output
    assert not kubectl("get", "daemonset,configmap,pod", "-n", "volcano-system", "-l", LABELLED, "-o", "name")
    for node in (cluster.first, cluster.second):
        assert (images(node), labels(node.name)) == ([], {})
