# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that deploy the agent: complete, in order, none in a second run, and none if the plan is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    AgentJournal,
    parse_journal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.install_plan import plan_install, pools_by_node
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import AgentState, LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_colocation_configuration
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.module_options import DeployOptions
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.node_labels import LabelPermission, plan_labels
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    COLOCATION_LABEL,
    OVERSUBSCRIPTION_LABEL,
    POOL_LABEL,
    AgentPlan,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.probed_host import AgentHost
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import ObjectChange, Operation
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref, apply_patch
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    V1,
    agent_state,
    config_map,
    host,
    node,
    options,
    pools,
    served,
)

SPACE = "volcano-system"
GRANTED, DENIED, NOT_SET = LabelPermission.GRANTED, LabelPermission.DENIED, LabelPermission.NOT_SET
HOSTS = (host("n1"), host("n2", V1))
FOREIGN_CONFIG = '{"globalConfig": {"cpuBurstConfig": {"enable": false}}, "x": 1}'


def plan(
    cluster: AgentState,
    chosen: DeployOptions | None = None,
    permission: LabelPermission = GRANTED,
    hosts: Sequence[AgentHost] = HOSTS,
) -> AgentPlan:
    chosen = chosen or options()
    owners = {item.name: item.name for item in hosts}
    return plan_install(chosen, pools(hosts, chosen), owners, cluster, permission)


def label(cluster: AgentState, permission: LabelPermission = GRANTED, chosen: DeployOptions | None = None) -> AgentPlan:
    made = pools(HOSTS, chosen or options())
    return plan_labels(cluster, pools_by_node(made, {"n1": "n1", "n2": "n2"}), made, permission, SPACE)


def apply_steps(cluster: AgentState, steps: Sequence[ObjectChange]) -> AgentState:
    """The state of the cluster after the steps, as the API server would return it."""
    for step in steps:
        cluster = _apply_step(cluster, step)
    return cluster


def _apply_step(cluster: AgentState, step: ObjectChange) -> AgentState:
    kind, name = step.ref.kind, step.ref.name
    if kind == "Node":
        return replace(
            cluster,
            nodes=tuple(
                _patch_node(live_node, step) if live_node.name == name else live_node for live_node in cluster.nodes
            ),
        )
    if kind == "Namespace":
        return replace(cluster, namespace=True)
    if kind == "ConfigMap":
        deleted = step.operation is Operation.DELETE
        if name == "volcano-agent-configuration":
            return replace(cluster, config_map=None if deleted else _config_map(cluster, step))
        return replace(cluster, journal=None if deleted else parse_journal(step.body))
    if kind == "DaemonSet":
        remaining = (daemon_set for daemon_set in cluster.daemon_sets if Ref.of(daemon_set) != step.ref)
        whole = _whole(cluster, step)
        new = [] if step.operation is Operation.DELETE else [served(whole)]
        cluster = replace(cluster, daemon_sets=(*remaining, *new))
    if kind == "ColocationConfiguration":
        remaining = (item for item in cluster.configurations or () if Ref.of(item) != step.ref)
        new = [] if step.operation is Operation.DELETE else [_whole(cluster, step)]
        return replace(cluster, configurations=(*remaining, *new))
    objects = {key: item for key, item in cluster.objects.items() if key != step.ref}
    if step.operation is not Operation.DELETE:
        whole = _whole(cluster, step)
        objects[step.ref] = {**whole, "metadata": {**whole["metadata"], "uid": "x", "resourceVersion": "9"}}
    return replace(cluster, objects=objects)


def _whole(cluster: AgentState, step: ObjectChange) -> dict[str, Any]:
    """The object that a step creates or patches."""
    return apply_patch(cluster.objects.get(step.ref, {}), step.body)


def _config_map(cluster: AgentState, step: ObjectChange) -> dict[str, Any]:
    data = {**((cluster.config_map or {}).get("data") or {}), **step.body["data"]}
    return {**config_map(""), "data": {key: text for key, text in data.items() if text is not None}}


def _patch_node(live_node: LiveNode, step: ObjectChange) -> LiveNode:
    def joined(old: Any, new: Any) -> dict[str, Any]:
        return {key: value for key, value in {**old, **(new or {})}.items() if value is not None}

    metadata = step.body["metadata"]
    if "resourceVersion" in metadata:
        assert metadata["resourceVersion"] == live_node.version
    return replace(
        live_node,
        labels=joined(live_node.labels, metadata.get("labels")),
        annotations=joined(live_node.annotations, metadata.get("annotations")),
        taints=tuple(step.body.get("spec", {}).get("taints", live_node.taints)),
        reported=joined(live_node.reported, step.body.get("status", {}).get("allocatable")),
        listed=joined(live_node.listed, step.body.get("status", {}).get("capacity")),
    )


def cluster(**different: Any) -> AgentState:
    return agent_state(node("n1", {"zone": "a"}), node("n2", {"zone": "b"}), **different)


def installed(**different: Any) -> AgentState:
    """A cluster after both steps."""
    before = cluster(**different)
    after = apply_steps(before, plan(before).steps)
    return apply_steps(after, label(after).steps)


def test_objects_are_created_after_the_objects_that_they_need() -> None:
    result = plan(cluster(namespace=False))
    assert [str(step).partition("-system/")[0].rpartition("-")[0] or str(step) for step in result.steps][:1] == [
        "create Namespace volcano"
    ]
    kinds = [f"{step.operation.value} {step.ref.kind} {step.ref.name}" for step in result.steps]
    names = sorted(pool.name for pool in pools(HOSTS, options()))
    assert kinds == [
        "create Namespace volcano-system",
        "patch Node n1",
        "patch Node n2",
        "create ConfigMap volcano-colocation-agent",
        "create ConfigMap volcano-agent-configuration",
        "create ServiceAccount volcano-colocation-agent",
        "create ClusterRole volcano-colocation-agent",
        "create ClusterRoleBinding volcano-colocation-agent",
        "create Role volcano-colocation-agent",
        "create RoleBinding volcano-colocation-agent",
        *(f"create DaemonSet volcano-agent-{name}" for name in names),
    ]
    assert (result.pending, result.notes) == ((), ())


def test_a_second_run_writes_nothing() -> None:
    after = installed()
    assert plan(after).steps == ()
    assert label(after).steps == ()


def test_drift_is_a_change_and_defaults_of_the_server_are_not() -> None:
    after = installed()
    edited = [json.loads(json.dumps(daemon_set)) for daemon_set in after.daemon_sets]
    edited[0]["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1"
    objects = {**after.objects, Ref.of(edited[0]): edited[0]}
    (step,) = plan(replace(after, daemon_sets=tuple(edited), objects=objects)).steps
    assert (step.operation, step.ref.kind) == (Operation.UPDATE, "DaemonSet")
    assert step.before["spec"]["template"]["spec"]["containers"][0]["image"] == "evil:1"
    assert "restartPolicy" not in step.before["spec"]["template"]["spec"]


def test_a_quantity_in_canonical_form_is_not_drift() -> None:
    chosen = options(resources={"limits": {"cpu": "1000m"}})
    after = apply_steps(cluster(), plan(cluster(), chosen).steps)
    stored = {key: {**item, **_canonical(item)} for key, item in after.objects.items()}
    assert stored != after.objects
    assert plan(replace(after, objects=stored), chosen).steps == ()


def _canonical(live: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(json.dumps(live.get("spec")).replace('"1000m"', '"1"'))
    return {"spec": spec} if spec else {}


def test_additions_of_other_clients_remain_when_an_object_is_updated() -> None:
    """Removing the annotation of kubectl rollout restart would start another rollout."""
    after = installed()
    key = next(item for item in after.objects if item.kind == "DaemonSet")
    live = json.loads(json.dumps(after.objects[key]))
    restarted = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    live["spec"]["template"]["metadata"].setdefault("annotations", {}).update(restarted)
    live["spec"]["template"]["spec"]["containers"].append({"name": "injected", "image": "foreign:1"})
    live["metadata"]["labels"]["team"] = "a"
    assert plan(replace(after, objects={**after.objects, key: live})).steps == ()
    live["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1"
    (step,) = plan(replace(after, objects={**after.objects, key: live})).steps
    updated = apply_patch(live, step.body)
    template = updated["spec"]["template"]
    assert restarted.items() <= template["metadata"]["annotations"].items()
    assert updated["metadata"]["labels"]["team"] == "a"
    assert [container["image"] for container in template["spec"]["containers"]][1:] == ["foreign:1"]
    assert template["spec"]["containers"][0]["image"] != "evil:1"
    assert "foreign:1" in step.diff()["after"]
    assert step.body["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]
    assert plan(replace(after, objects={**after.objects, key: updated})).steps == ()


def test_fields_that_are_no_longer_set_are_removed() -> None:
    after = installed()
    steps = plan(after, options(tolerations=[])).steps
    assert [step.ref.kind for step in steps] == ["DaemonSet", "DaemonSet"]
    assert "tolerations" in steps[0].before["spec"]["template"]["spec"]
    assert "tolerations" not in steps[0].after["spec"]["template"]["spec"]
    assert plan(apply_steps(after, steps), options(tolerations=[])).steps == ()


def test_a_service_account_keeps_the_tokens_of_the_server() -> None:
    after = installed()
    key = Ref("v1", "ServiceAccount", "volcano-colocation-agent", SPACE)
    bare = {**after.objects[key], "metadata": {**after.objects[key]["metadata"], "annotations": {}}}
    bare["secrets"] = [{"name": "token"}]
    (step,) = plan(replace(after, objects={**after.objects, key: bare})).steps
    assert step.operation is Operation.UPDATE
    assert apply_patch(bare, step.body)["secrets"] == [{"name": "token"}]


def test_a_node_that_changes_its_kind_moves_and_its_old_pool_is_deleted() -> None:
    after = installed()
    moved = (HOSTS[0], replace(host("n1"), name="n2"))
    result = plan(after, hosts=moved)
    assert [f"{step.operation.value} {step.ref.kind}" for step in result.steps] == [
        "patch Node",
        "patch ConfigMap",
        "patch ConfigMap",
        "delete DaemonSet",
    ]
    assert plan(apply_steps(after, result.steps), hosts=moved).steps == ()


def test_pools_of_nodes_outside_of_the_run_are_not_changed() -> None:
    after = installed()
    assert plan(after, hosts=HOSTS[:1]).steps == ()


def test_the_configuration_has_the_settings_of_each_pool() -> None:
    chosen = options(
        features=["OverSubscription", "CPUBurst", "MemoryQoSV2"],
        watermarks={"cpu_high": 70},
        pools=[{"name": "batch", "nodes": ["n2"], "watermarks": {"cpu_high": 90}}],
    )
    (text,) = (step.after for step in plan(cluster(), chosen).steps if step.ref.name == "volcano-agent-configuration")
    document = json.loads(text)
    assert document["globalConfig"] == {"evictingConfig": {"evictingCPUHighWatermark": 70}}
    by_pool = {item["selector"]["matchLabels"][POOL_LABEL]: item for item in document["nodesConfig"]}
    (batch,) = (item for name, item in by_pool.items() if name.startswith("batch-v1-"))
    (other,) = (item for name, item in by_pool.items() if name.startswith("v2-"))
    assert batch["evictingConfig"] == {"evictingCPUHighWatermark": 90}
    assert (batch["memoryQosV2Config"], other["memoryQosV2Config"]) == ({"enable": False}, {"enable": True})
    assert batch["cpuThrottlingConfig"] == {"enable": False}


def test_watermarks_that_conflict_with_existing_ones_are_refused() -> None:
    existing = config_map('{"globalConfig": {"evictingConfig": {"evictingCPUHighWatermark": 40}}}')
    with pytest.raises(ClusterError) as refused:
        plan(cluster(config_map=existing), options(watermarks={"cpu_low": 50}))
    assert "evictingCPULowWatermark 50 has to be less than evictingCPUHighWatermark 40" in str(refused.value)


def test_a_foreign_entry_for_nodes_of_a_pool_is_refused() -> None:
    existing = config_map('{"globalConfig": {}, "nodesConfig": [{"selector": {"matchLabels": {"zone": "b"}}}]}')
    with pytest.raises(
        ClusterError, match=r"the last entry that matches: nodesConfig\[0\] matches n2\. Nothing was changed"
    ):
        plan(cluster(config_map=existing))


def test_without_the_crd_memory_qos_is_refused() -> None:
    memory = [{"name": "offline", "namespace": "batch", "selector": {}}]
    with pytest.raises(ClusterError, match=r"no CRD colocationconfigurations\.config\.volcano\.sh.*Volcano 1\.14"):
        plan(cluster(), options(memory_qos=memory))


def test_configurations_are_created_and_deleted_with_the_variable() -> None:
    memory = [{"name": "offline", "namespace": "batch", "selector": {"matchLabels": {"app": "x"}}}]
    foreign = {**render_colocation_configuration(options(memory_qos=memory).memory_qos[0])}
    foreign["metadata"] = {"name": "foreign", "namespace": "batch"}
    with_crd = cluster(configurations=(foreign,))
    first = plan(with_crd, options(memory_qos=memory, features=["MemoryQoSV2"]))
    assert [str(step) for step in first.steps[-1:]] == ["create ColocationConfiguration batch/offline"]
    assert [note.partition(": ")[2] for note in first.notes] == [
        "colocation_agent_memory_qos has no effect, since MemoryQoSV2 is disabled"
    ]
    after = apply_steps(with_crd, first.steps)
    second = plan(after, options(features=["MemoryQoSV2"]))
    assert [str(step) for step in second.steps] == ["delete ColocationConfiguration batch/offline"]
    assert second.notes[0].endswith(
        "until a pod matches a ColocationConfiguration: colocation_agent_memory_qos is empty"
    )


@pytest.mark.parametrize(
    ("image", "selector", "refused"),
    [
        ("docker.io/volcanosh/vc-agent:v1.13", {}, True),
        ("ghcr.io/koordlet@sha256:1", {"zone": "a"}, True),
        ("docker.io/volcanosh/vc-agent:v1.13", {"zone": "elsewhere"}, False),
        ("quay.io/node-exporter:1", {}, False),
    ],
)
def test_another_agent_on_the_same_nodes_is_refused(image: str, selector: dict[str, str], refused: bool) -> None:
    foreign = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "foreign", "namespace": "x"},
        "spec": {"template": {"spec": {"nodeSelector": selector, "containers": [{"image": image}]}}},
    }
    existing = cluster(daemon_sets=(foreign,))
    if not refused:
        assert plan(existing).steps
        return
    with pytest.raises(ClusterError, match=r"^Another agent is deployed to the same nodes: DaemonSet x/foreign \("):
        plan(existing)


def test_a_foreign_object_with_the_name_of_a_managed_one_is_refused() -> None:
    key = Ref("v1", "ServiceAccount", "volcano-colocation-agent", SPACE)
    foreign = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": key.name, "namespace": SPACE}}
    with pytest.raises(ClusterError, match=r"^ServiceAccount volcano-system/volcano-colocation-agent exists"):
        plan(cluster(objects={key: foreign}))


def test_without_a_value_for_label_nodes_the_run_fails_before_its_first_change() -> None:
    for act in (plan, label):
        with pytest.raises(ClusterError) as refused:
            act(cluster(), permission=NOT_SET)
        assert f"Node n1: {COLOCATION_LABEL}=true, {OVERSUBSCRIPTION_LABEL}=true" in str(refused.value)
        assert "evicts offline pods" in str(refused.value)
        assert "Nothing was changed. Set colocation_agent_label_nodes to true" in str(refused.value)


def test_denied_labels_are_pending_and_all_other_changes_are_made() -> None:
    result = plan(cluster(), permission=DENIED)
    assert len(result.pending) == 2
    assert [step.ref.kind for step in result.steps].count("DaemonSet") == 2
    assert label(cluster(), DENIED) == AgentPlan(pending=result.pending)


def test_nodes_with_the_labels_do_not_need_permission() -> None:
    assert plan(installed(), permission=NOT_SET).pending == ()


def test_without_oversubscription_only_the_other_label_is_set() -> None:
    steps = label(cluster(), chosen=options(features=["Eviction"])).steps
    assert [step.body["metadata"]["labels"] for step in steps[1:]] == [{COLOCATION_LABEL: "true"}] * 2


def test_the_journal_is_written_before_the_labels_that_it_records() -> None:
    off = agent_state(node("n1", {COLOCATION_LABEL: "false"}), node("n2"))
    result = label(off)
    assert [step.ref.kind for step in result.steps] == ["ConfigMap", "Node", "Node"]
    journal = parse_journal(result.steps[0].body)
    assert journal is not None
    assert journal.labels["n1"] == {COLOCATION_LABEL: "false", OVERSUBSCRIPTION_LABEL: None}
    # In check mode, the previous step did not create it.
    assert result.steps[0].operation is Operation.CREATE
    assert label(replace(off, journal=AgentJournal())).steps[0].operation is Operation.PATCH
