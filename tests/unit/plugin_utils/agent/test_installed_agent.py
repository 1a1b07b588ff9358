# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to the API server for the agent, and error messages when it refuses one.

Tests on the lab's cluster use a real API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    AgentJournal,
    render_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.install_plan import plan_install
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import (
    AgentCluster,
    plan_permissions,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_namespace
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.node_labels import LabelPermission, plan_labels
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    EVICTING_TAINT,
    POOL_LABEL,
    change_node_labels,
    create_managed,
    delete_object,
    patch_object,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.pools import make_pools
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.uninstall_plan import plan_uninstall
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import ObjectChange, Operation
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import host, options
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import (
    CONTEXT,
    MemoryClient,
    Server,
)

SPACE = "volcano-system"
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"zone": "a"}, "resourceVersion": "7"},
    "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]},
    "status": {
        "nodeInfo": {"bootID": "b", "machineID": "m", "kubeletVersion": "v1.30.1"},
        "capacity": {"cpu": "2", "kubernetes.io/batch-cpu": "900", "kubernetes.io/batch-memory": "7"},
        "allocatable": {"cpu": "2", "kubernetes.io/batch-cpu": "800"},
    },
}
SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": SPACE}}


def cluster(*objects: Mapping[str, Any], dry_run: bool = False, **different: Any) -> tuple[AgentCluster, Server]:
    server = Server(**different)
    server.add(*objects)
    return AgentCluster(server.client(dry_run=dry_run), SPACE), server


def named(kind: str, name: str, api_version: str = "v1", space: str | None = SPACE) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": space} if space else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def test_the_state_that_a_plan_needs_is_read() -> None:
    journal = render_journal(AgentJournal(labels={"n1": {"a": None}}), SPACE)
    role = named("Role", "volcano-colocation-agent", "rbac.authorization.k8s.io/v1")
    state = cluster(NODE, SET, journal, role)[0].read_state()
    (node,) = state.nodes
    assert (node.name, node.identity.boot_id, node.labels) == ("n1", "b", {"zone": "a"})
    assert node.version
    assert node.reported == {"kubernetes.io/batch-cpu": "800"}
    assert node.listed == {"kubernetes.io/batch-cpu": "800", "kubernetes.io/batch-memory": "7"}
    assert set(state.objects) == {Ref.of(SET), Ref.of(role)}
    assert state.daemon_sets[0]["apiVersion"] == "apps/v1"
    assert state.journal == AgentJournal(labels={"n1": {"a": None}})
    assert (state.namespace, state.config_map, state.configurations) == (False, None, None)


def test_resources_only_in_the_capacity_are_not_allocatable() -> None:
    status = {**NODE["status"], "allocatable": {"cpu": "2"}}
    (node,) = cluster({**NODE, "status": status})[0].nodes()
    assert node.reported == {}
    assert set(node.listed) == {"kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"}


def test_a_taint_is_removed_although_kubelet_updates_the_status_in_between() -> None:
    taints = [{"key": EVICTING_TAINT, "effect": "NoSchedule"}, *NODE["spec"]["taints"]]
    tainted = {**NODE, "metadata": {**NODE["metadata"], "labels": {POOL_LABEL: "a"}}, "spec": {"taints": taints}}
    agents, server = cluster(tainted)
    (step, *_status) = plan_uninstall(agents.read_state(), SPACE, LabelPermission.GRANTED).steps
    server.add({**tainted, "status": {**NODE["status"], "images": []}})
    agents.apply([step])
    node = server.get("Node", "n1") or {}
    assert (node["spec"], node["metadata"]["labels"]) == (NODE["spec"], {})
    server.add({**tainted, "spec": {"taints": [*taints, {"key": "foreign", "effect": "NoExecute"}]}})
    with pytest.raises(ClusterError, match="another client changed it after it was read"):
        agents.apply([step])
    server.refuses["get nodes n1"] = 403
    with pytest.raises(ClusterError, match="another client changed it after it was read"):
        agents.apply([step])


def test_a_simultaneous_run_does_not_overwrite_the_journal_of_another() -> None:
    journal = render_journal(AgentJournal(labels={"n1": {COLOCATION_LABEL: "false"}}), SPACE)
    agents, server = cluster(NODE, journal)
    state = agents.read_state()
    other = render_journal(AgentJournal(labels={"n2": {COLOCATION_LABEL: None}}), SPACE)
    server.add(other)
    made = make_pools((host("n1"),), options().pools, options().features, options().release)
    labels = plan_labels(state, {"n1": made[0].name}, made, LabelPermission.GRANTED, SPACE)
    for plan in (labels, plan_install(options(), made, {"n1": "n1"}, state, LabelPermission.GRANTED)):
        step = next((item for item in plan.steps if item.ref == Ref.of(journal)), None)
        assert step is not None
        with pytest.raises(ClusterError, match="another client changed it after it was read"):
            agents.apply([step])
    assert server.get("ConfigMap", journal["metadata"]["name"], SPACE)["data"] == other["data"]  # type: ignore[index]


def test_a_crd_without_objects_is_recognized() -> None:
    assert cluster(apis=("config.volcano.sh/v1alpha1",))[0].read_state().configurations == ()


@pytest.mark.parametrize(
    "request_",
    [
        "list nodes",
        "list daemonsets.apps",
        "get clusterroles.rbac.authorization.k8s.io volcano-colocation-agent",
        "get roles.rbac.authorization.k8s.io volcano-colocation-agent in volcano-system",
        "list colocationconfigurations.config.volcano.sh",
    ],
)
def test_a_missing_verb_is_named(request_: str) -> None:
    with pytest.raises(ClusterError) as refused:
        cluster(refuses={request_: 403})[0].read_state()
    assert str(refused.value) == (
        f"The user of /k.conf may not {request_}: no."
        " Nothing was changed. Grant the verb; docs/page.md lists all verbs."
    )


CONFIG, NODE_REF = named("ConfigMap", "c"), named("Node", "n1", space=None)
STEPS = (
    create_managed(render_namespace(SPACE)),
    change_node_labels("n1", {}, {"a": "b"}),
    patch_object(CONFIG, "", ""),
    ObjectChange(Ref.of(SET), Operation.UPDATE, SET, None, None),
    delete_object(SET),
    ObjectChange(Ref("v1", "Node", "n1"), Operation.STATUS, {**NODE_REF, "status": {}}, None, None),
)


def test_each_step_is_sent_with_its_verb() -> None:
    agent, server = cluster(NODE, CONFIG, SET)
    agent.apply(STEPS)
    assert server.writes == [
        f"create Namespace {SPACE}",
        "patch Node n1",
        f"patch ConfigMap {SPACE}/c",
        f"patch DaemonSet {SPACE}/d",
        f"delete DaemonSet {SPACE}/d",
        "patch Node n1",
    ]


class Sent(MemoryClient):
    """Records requests."""

    def __init__(self, server: Server, *, dry_run: bool = False) -> None:
        super().__init__(server, CONTEXT, dry_run=dry_run)
        self.sent: list[tuple[str, str]] = []

    def patch(self, body: Mapping[str, Any], *, subresource: str = "") -> dict[str, Any]:
        self.sent.append((body["kind"], subresource))
        return super().patch(body, subresource=subresource)

    def delete(self, ref: Ref, *, propagation: str = "") -> None:
        self.sent.append((ref.kind, propagation))
        super().delete(ref, propagation=propagation)

    def _sent(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if verb in ("create", "update"):
            self.sent.append((body["kind"], verb))
        return super()._sent(verb, body)


def test_agents_are_deleted_with_their_pods_and_a_status_by_its_subresource() -> None:
    _agent, server = cluster(NODE, CONFIG, SET)
    client = Sent(server)
    AgentCluster(client, SPACE).apply(STEPS)
    assert client.sent[-2:] == [("DaemonSet", "Foreground"), ("Node", "status")]


def test_a_dry_run_omits_changes_in_a_namespace_that_does_not_exist() -> None:
    client = Sent(cluster(NODE)[1], dry_run=True)
    AgentCluster(client, SPACE).apply(STEPS)
    assert [kind for kind, _what in client.sent] == ["Namespace", "Node", "Node"]


def test_a_dry_run_omits_changes_in_a_namespace_of_an_earlier_dry_run() -> None:
    client = Sent(cluster(NODE)[1], dry_run=True)
    AgentCluster(client, SPACE).apply(STEPS[1:])
    assert [kind for kind, _what in client.sent] == ["Node", "Node"]
    existing = Sent(cluster(NODE, CONFIG, SET, named("Namespace", SPACE, space=None))[1], dry_run=True)
    AgentCluster(existing, SPACE).apply(STEPS[1:])
    assert len(existing.sent) == len(STEPS) - 1


def test_a_failed_step_reports_the_steps_before_it() -> None:
    agent, _server = cluster(NODE, CONFIG, SET, refuses={f"patch configmaps c in {SPACE}": 403})
    with pytest.raises(ClusterError) as refused:
        agent.apply(STEPS)
    assert str(refused.value) == (
        "The user of /k.conf may not patch configmaps c in volcano-system, or an admission controller refuses it: no."
        " 2 of 6 steps were done before it, and another run continues."
        " Grant the verb, or check which admission controller refuses it; docs/page.md lists all verbs."
    )
    agent, _server = cluster(refuses={f"create namespaces {SPACE}": 403})
    with pytest.raises(ClusterError, match=r"may not create namespaces volcano-system, or .*\. Nothing was changed\. "):
        agent.apply(STEPS)


def test_permissions_of_the_steps() -> None:
    assert [str(permission) for permission in plan_permissions(STEPS)] == [
        f"get daemonsets.apps d in {SPACE}",
        "create namespaces",
        "patch nodes n1",
        f"patch configmaps c in {SPACE}",
        f"patch daemonsets.apps d in {SPACE}",
        f"delete daemonsets.apps d in {SPACE}",
        "patch nodes/status n1",
    ]
