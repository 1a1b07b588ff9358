# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of an API server for the agent, and what is said when it does not answer as hoped.

What a real server says is for tests on the lab's cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.journal import Journal, written
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.needs import Need, needs
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.objects import namespace
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.steps import (
    Step,
    Verb,
    create_or_replace,
    delete,
    merge,
    node_labels,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.agent_cluster import AgentCluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.requests import LOOK
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.model import ClusterError

SPACE = "volcano-system"
NODE: dict[str, Any] = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}, "resourceVersion": "7"},
    "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]},
    "status": {
        "nodeInfo": {"bootID": "b", "machineID": "m", "kubeletVersion": "v1.30.1"},
        "capacity": {"cpu": "2", "kubernetes.io/batch-cpu": "900", "kubernetes.io/batch-memory": "7"},
        "allocatable": {"cpu": "2", "kubernetes.io/batch-cpu": "800"},
    },
}
SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": SPACE}}
FORBIDDEN = {"failed": True, "status": 403, "msg": "Failed to read: forbidden"}


@dataclass
class Server:
    """Answers by kind and name; all that was asked and sent is kept."""

    found: Mapping[tuple[str, str | None], dict[str, Any]] = field(default_factory=dict)
    refuses: str = ""
    sent: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == LOOK:
            key = (arguments["kind"], arguments.get("name"))
            if key[0] == self.refuses:
                return FORBIDDEN
            return self.found.get(key, {"resources": [], "api_found": True})
        self.sent.append(arguments)
        return FORBIDDEN if arguments["definition"]["kind"] == self.refuses else {"changed": True}


def cluster(server: Server, **different: Any) -> AgentCluster:
    return replace(AgentCluster(server, "/k.conf"), **different)


def resources(*found: Mapping[str, Any]) -> dict[str, Any]:
    return {"resources": list(found), "api_found": True}


def test_all_that_a_plan_needs_is_read() -> None:
    journal = written(Journal(labels={"n1": {"a": None}}), SPACE)
    answers = {
        ("Node", None): resources(NODE),
        ("DaemonSet", None): resources({"kind": "DaemonSet", "metadata": SET["metadata"]}),
        ("ConfigMap", "volcano-colocation-agent"): resources(journal),
        ("Role", "volcano-colocation-agent"): resources(
            {"kind": "Role", "metadata": {"name": "r", "namespace": SPACE}}
        ),
        ("ColocationConfiguration", None): {"resources": [], "api_found": False},
    }
    seen = cluster(Server(answers)).agent_seen()
    (node,) = seen.nodes
    assert (node.name, node.identity.boot_id, node.labels, node.version) == ("n1", "b", {"zone": "a"}, "7")
    assert node.reported == {"kubernetes.io/batch-cpu": "800"}
    assert node.listed == {"kubernetes.io/batch-cpu": "800", "kubernetes.io/batch-memory": "7"}
    assert set(seen.objects) == {("DaemonSet", SPACE, "d"), ("Role", SPACE, "r")}
    assert seen.daemon_sets[0]["apiVersion"] == "apps/v1"
    assert seen.journal == Journal(labels={"n1": {"a": None}})
    assert (seen.namespace, seen.config_map, seen.configurations) == (False, None, None)


def test_what_is_in_the_capacity_only_is_none_that_a_pod_can_have() -> None:
    status = {**NODE["status"], "allocatable": {"cpu": "2"}}
    (node,) = cluster(Server({("Node", None): resources({**NODE, "status": status})})).nodes()
    assert node.reported == {}
    assert set(node.listed) == {"kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"}


def test_a_crd_without_objects_is_there() -> None:
    assert cluster(Server()).agent_seen().configurations == ()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("Node", "list nodes"),
        ("DaemonSet", "list daemonsets"),
        ("ClusterRole", "get clusterroles volcano-colocation-agent"),
        ("Role", "get roles volcano-colocation-agent in volcano-system"),
        ("ColocationConfiguration", "list colocationconfigurations"),
    ],
)
def test_a_missing_verb_is_named(kind: str, what: str) -> None:
    with pytest.raises(ClusterError) as refused:
        cluster(Server(refuses=kind)).agent_seen()
    assert str(refused.value) == (
        f"The user of /k.conf may not {what}: Failed to read: forbidden."
        " Nothing was changed. Grant the verb, docs/agent.md lists all."
    )


STEPS = (
    create_or_replace(None, namespace(SPACE)),
    node_labels("n1", {}, {"a": "b"}),
    merge({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": SPACE}}, "", ""),
    Step(Verb.REPLACE, SET, None, None),
    delete(SET),
    Step(Verb.STATUS, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {}}, None, None),
)


def test_each_step_is_sent_in_its_way() -> None:
    server = Server()
    cluster(server).carry_out(STEPS)
    ways = [
        {key: value for key, value in each.items() if key not in ("definition", "kubeconfig")} for each in server.sent
    ]
    assert ways == [
        {"state": "present"},
        {"state": "patched"},
        {"state": "patched"},
        {"state": "present", "force": True},
        {
            "state": "absent",
            "delete_options": {"propagationPolicy": "Foreground"},
            "wait": True,
            "wait_timeout": 180,
        },
        {"state": "patched", "subresource": "status"},
    ]
    assert [each["definition"]["kind"] for each in server.sent] == [step.target[0] for step in STEPS]


def test_a_dry_run_leaves_out_what_needs_a_namespace_that_is_not_there() -> None:
    server = Server()
    cluster(server, dry_run=True).carry_out(STEPS)
    assert [each["definition"]["kind"] for each in server.sent] == ["Namespace", "Node", "Node"]


def test_so_does_one_whose_namespace_an_earlier_dry_run_would_have_made() -> None:
    server = Server()
    cluster(server, dry_run=True).carry_out(STEPS[1:])
    assert [each["definition"]["kind"] for each in server.sent] == ["Node", "Node"]
    there = Server({("Namespace", SPACE): resources({"kind": "Namespace", "metadata": {"name": SPACE}})})
    cluster(there, dry_run=True).carry_out(STEPS[1:])
    assert len(there.sent) == len(STEPS) - 1


def test_a_step_that_fails_says_what_was_done_before() -> None:
    with pytest.raises(ClusterError) as refused:
        cluster(Server(refuses="ConfigMap")).carry_out(STEPS)
    assert str(refused.value) == (
        "The user of /k.conf may not patch ConfigMap volcano-system/c, or an admission refuses it: Failed to read:"
        " forbidden. 2 of 6 steps were done before it, and a further run goes on."
        " Grant the verb, docs/agent.md lists all, or look at what refuses it."
    )
    with pytest.raises(ClusterError, match=r"may not create Namespace volcano-system, or .*\. Nothing was changed\. "):
        cluster(Server(refuses="Namespace")).carry_out(STEPS)


def test_what_the_steps_take() -> None:
    assert [str(each) for each in needs(STEPS)] == [
        f"get namespaces {SPACE}",
        "create namespaces",
        "patch nodes n1",
        f"patch configmaps c in {SPACE}",
        f"get daemonsets.apps d in {SPACE}",
        f"update daemonsets.apps d in {SPACE}",
        f"delete daemonsets.apps d in {SPACE}",
        "patch nodes/status n1",
    ]


def test_a_verb_that_is_granted_by_name_is_enough() -> None:
    asked = []

    def ask(_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        attributes = arguments["definition"]["spec"]["resourceAttributes"]
        asked.append(attributes["name"])
        return {"result": {"status": {"allowed": attributes["name"] == "a"}}}

    api = AgentCluster(ask, "/k.conf")
    api.demand([Need("patch", "", "nodes", name="a")])
    assert asked == ["", "a"]
    with pytest.raises(ClusterError, match=r"may not patch nodes b\. Nothing was changed\. Grant it; docs/agent\.md"):
        api.demand([Need("patch", "", "nodes", name=each) for each in ("a", "b")])
    with pytest.raises(ClusterError, match=r"may not patch nodes; list pods in x\. "):
        api.demand([Need("patch", "", "nodes", name="b"), Need("list", "", "pods", namespace="x")])
