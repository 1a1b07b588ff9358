# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written to a cluster for the agent: all of it in order, nothing twice, and nothing where it is refused."""

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
    config_map,
    host,
    node,
    options,
    pools,
    seen,
    served,
)

SPACE = "volcano-system"
GRANTED, DENIED, NOT_SET = LabelPermission.GRANTED, LabelPermission.DENIED, LabelPermission.NOT_SET
HOSTS = (host("n1"), host("n2", V1))
THEIRS = '{"globalConfig": {"cpuBurstConfig": {"enable": false}}, "x": 1}'


def plan(
    cluster: AgentState,
    chosen: DeployOptions | None = None,
    permission: LabelPermission = GRANTED,
    hosts: Sequence[AgentHost] = HOSTS,
) -> AgentPlan:
    chosen = chosen or options()
    owners = {each.name: each.name for each in hosts}
    return plan_install(chosen, pools(hosts, chosen), owners, cluster, permission)


def label(cluster: AgentState, permission: LabelPermission = GRANTED, chosen: DeployOptions | None = None) -> AgentPlan:
    made = pools(HOSTS, chosen or options())
    return plan_labels(cluster, pools_by_node(made, {"n1": "n1", "n2": "n2"}), made, permission, SPACE)


def carried_out(cluster: AgentState, steps: Sequence[ObjectChange]) -> AgentState:
    """The cluster once the steps are done, as the API server would give it back."""
    for step in steps:
        cluster = _done(cluster, step)
    return cluster


def _done(cluster: AgentState, step: ObjectChange) -> AgentState:
    kind, name = step.ref.kind, step.ref.name
    if kind == "Node":
        return replace(
            cluster, nodes=tuple(_patched(each, step) if each.name == name else each for each in cluster.nodes)
        )
    if kind == "Namespace":
        return replace(cluster, namespace=True)
    if kind == "ConfigMap":
        gone = step.operation is Operation.DELETE
        if name == "volcano-agent-configuration":
            return replace(cluster, config_map=None if gone else _config_map(cluster, step))
        return replace(cluster, journal=None if gone else parse_journal(step.body))
    if kind == "DaemonSet":
        others = (each for each in cluster.daemon_sets if Ref.of(each) != step.ref)
        whole = _whole(cluster, step)
        new = [] if step.operation is Operation.DELETE else [served(whole)]
        cluster = replace(cluster, daemon_sets=(*others, *new))
    if kind == "ColocationConfiguration":
        others = (each for each in cluster.configurations or () if Ref.of(each) != step.ref)
        new = [] if step.operation is Operation.DELETE else [_whole(cluster, step)]
        return replace(cluster, configurations=(*others, *new))
    objects = {key: each for key, each in cluster.objects.items() if key != step.ref}
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


def _patched(found: LiveNode, step: ObjectChange) -> LiveNode:
    def joined(old: Any, new: Any) -> dict[str, Any]:
        return {key: value for key, value in {**old, **(new or {})}.items() if value is not None}

    metadata = step.body["metadata"]
    if "resourceVersion" in metadata:
        assert metadata["resourceVersion"] == found.version
    return replace(
        found,
        labels=joined(found.labels, metadata.get("labels")),
        annotations=joined(found.annotations, metadata.get("annotations")),
        taints=tuple(step.body.get("spec", {}).get("taints", found.taints)),
        reported=joined(found.reported, step.body.get("status", {}).get("allocatable")),
        listed=joined(found.listed, step.body.get("status", {}).get("capacity")),
    )


def cluster(**different: Any) -> AgentState:
    return seen(node("n1", {"zone": "a"}), node("n2", {"zone": "b"}), **different)


def installed(**different: Any) -> AgentState:
    """A cluster after both steps."""
    before = cluster(**different)
    after = carried_out(before, plan(before).steps)
    return carried_out(after, label(after).steps)


def test_all_is_made_in_an_order_in_which_each_finds_what_it_needs() -> None:
    found = plan(cluster(namespace=False))
    assert [str(step).partition("-system/")[0].rpartition("-")[0] or str(step) for step in found.steps][:1] == [
        "create Namespace volcano"
    ]
    kinds = [f"{step.operation.value} {step.ref.kind} {step.ref.name}" for step in found.steps]
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
    assert (found.pending, found.notes) == ((), ())


def test_a_second_run_writes_nothing() -> None:
    after = installed()
    assert plan(after).steps == ()
    assert label(after).steps == ()


def test_what_only_the_server_fills_is_no_change_and_drift_is_one() -> None:
    after = installed()
    edited = [json.loads(json.dumps(each)) for each in after.daemon_sets]
    edited[0]["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1"
    objects = {**after.objects, Ref.of(edited[0]): edited[0]}
    (step,) = plan(replace(after, daemon_sets=tuple(edited), objects=objects)).steps
    assert (step.operation, step.ref.kind) == (Operation.UPDATE, "DaemonSet")
    assert step.before["spec"]["template"]["spec"]["containers"][0]["image"] == "evil:1"
    assert "restartPolicy" not in step.before["spec"]["template"]["spec"]


def test_a_quantity_in_the_servers_form_is_no_drift() -> None:
    chosen = options(resources={"limits": {"cpu": "1000m"}})
    after = carried_out(cluster(), plan(cluster(), chosen).steps)
    stored = {key: {**each, **_canonical(each)} for key, each in after.objects.items()}
    assert stored != after.objects
    assert plan(replace(after, objects=stored), chosen).steps == ()


def _canonical(found: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(json.dumps(found.get("spec")).replace('"1000m"', '"1"'))
    return {"spec": spec} if spec else {}


def test_what_other_clients_have_added_stays_when_an_object_is_updated() -> None:
    """kubectl rollout restart, whose annotation would start another rollout if it went."""
    after = installed()
    key = next(each for each in after.objects if each.kind == "DaemonSet")
    live = json.loads(json.dumps(after.objects[key]))
    restarted = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    live["spec"]["template"]["metadata"].setdefault("annotations", {}).update(restarted)
    live["spec"]["template"]["spec"]["containers"].append({"name": "injected", "image": "theirs:1"})
    live["metadata"]["labels"]["team"] = "a"
    assert plan(replace(after, objects={**after.objects, key: live})).steps == ()
    live["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1"
    (step,) = plan(replace(after, objects={**after.objects, key: live})).steps
    updated = apply_patch(live, step.body)
    template = updated["spec"]["template"]
    assert restarted.items() <= template["metadata"]["annotations"].items()
    assert updated["metadata"]["labels"]["team"] == "a"
    assert [each["image"] for each in template["spec"]["containers"]][1:] == ["theirs:1"]
    assert template["spec"]["containers"][0]["image"] != "evil:1"
    assert "theirs:1" in step.diff()["after"]
    assert step.body["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]
    assert plan(replace(after, objects={**after.objects, key: updated})).steps == ()


def test_what_we_no_longer_say_is_taken_out() -> None:
    after = installed()
    steps = plan(after, options(tolerations=[])).steps
    assert [step.ref.kind for step in steps] == ["DaemonSet", "DaemonSet"]
    assert "tolerations" in steps[0].before["spec"]["template"]["spec"]
    assert "tolerations" not in steps[0].after["spec"]["template"]["spec"]
    assert plan(carried_out(after, steps), options(tolerations=[])).steps == ()


def test_an_account_keeps_the_tokens_that_the_server_has_added() -> None:
    after = installed()
    key = Ref("v1", "ServiceAccount", "volcano-colocation-agent", SPACE)
    bare = {**after.objects[key], "metadata": {**after.objects[key]["metadata"], "annotations": {}}}
    bare["secrets"] = [{"name": "token"}]
    (step,) = plan(replace(after, objects={**after.objects, key: bare})).steps
    assert step.operation is Operation.UPDATE
    assert apply_patch(bare, step.body)["secrets"] == [{"name": "token"}]


def test_a_node_of_another_kind_moves_and_its_old_pool_goes() -> None:
    after = installed()
    moved = (HOSTS[0], replace(host("n1"), name="n2"))
    found = plan(after, hosts=moved)
    assert [f"{step.operation.value} {step.ref.kind}" for step in found.steps] == [
        "patch Node",
        "patch ConfigMap",
        "patch ConfigMap",
        "delete DaemonSet",
    ]
    assert plan(carried_out(after, found.steps), hosts=moved).steps == ()


def test_pools_of_nodes_outside_of_the_run_stay() -> None:
    after = installed()
    assert plan(after, hosts=HOSTS[:1]).steps == ()


def test_the_configuration_says_what_each_pool_has() -> None:
    chosen = options(
        features=["OverSubscription", "CPUBurst", "MemoryQoSV2"],
        watermarks={"cpu_high": 70},
        pools=[{"name": "batch", "nodes": ["n2"], "watermarks": {"cpu_high": 90}}],
    )
    (text,) = (step.after for step in plan(cluster(), chosen).steps if step.ref.name == "volcano-agent-configuration")
    document = json.loads(text)
    assert document["globalConfig"] == {"evictingConfig": {"evictingCPUHighWatermark": 70}}
    by_pool = {each["selector"]["matchLabels"][POOL_LABEL]: each for each in document["nodesConfig"]}
    (batch,) = (each for name, each in by_pool.items() if name.startswith("batch-v1-"))
    (other,) = (each for name, each in by_pool.items() if name.startswith("v2-"))
    assert batch["evictingConfig"] == {"evictingCPUHighWatermark": 90}
    assert (batch["memoryQosV2Config"], other["memoryQosV2Config"]) == ({"enable": False}, {"enable": True})
    assert batch["cpuThrottlingConfig"] == {"enable": False}


def test_watermarks_that_only_clash_with_what_is_there_are_refused() -> None:
    there = config_map('{"globalConfig": {"evictingConfig": {"evictingCPUHighWatermark": 40}}}')
    with pytest.raises(ClusterError) as refused:
        plan(cluster(config_map=there), options(watermarks={"cpu_low": 50}))
    assert "evictingCPULowWatermark 50 has to be less than evictingCPUHighWatermark 40" in str(refused.value)


def test_their_entry_for_our_nodes_is_refused() -> None:
    there = config_map('{"globalConfig": {}, "nodesConfig": [{"selector": {"matchLabels": {"zone": "b"}}}]}')
    with pytest.raises(
        ClusterError, match=r"the last entry that matches: nodesConfig\[0\] matches n2\. Nothing was changed"
    ):
        plan(cluster(config_map=there))


def test_without_the_crd_memory_qos_is_refused() -> None:
    memory = [{"name": "offline", "namespace": "batch", "selector": {}}]
    with pytest.raises(ClusterError, match=r"no CRD colocationconfigurations\.config\.volcano\.sh.*Volcano 1\.14"):
        plan(cluster(), options(memory_qos=memory))


def test_configurations_are_made_changed_and_taken_away_with_the_variable() -> None:
    memory = [{"name": "offline", "namespace": "batch", "selector": {"matchLabels": {"app": "x"}}}]
    theirs = {**render_colocation_configuration(options(memory_qos=memory).memory_qos[0])}
    theirs["metadata"] = {"name": "theirs", "namespace": "batch"}
    with_crd = cluster(configurations=(theirs,))
    first = plan(with_crd, options(memory_qos=memory, features=["MemoryQoSV2"]))
    assert [str(step) for step in first.steps[-1:]] == ["create ColocationConfiguration batch/offline"]
    assert [note.partition(": ")[2] for note in first.notes] == [
        "colocation_agent_memory_qos has no effect, since MemoryQoSV2 is disabled"
    ]
    after = carried_out(with_crd, first.steps)
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
    theirs = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "theirs", "namespace": "x"},
        "spec": {"template": {"spec": {"nodeSelector": selector, "containers": [{"image": image}]}}},
    }
    there = cluster(daemon_sets=(theirs,))
    if not refused:
        assert plan(there).steps
        return
    with pytest.raises(ClusterError, match=r"^Another agent is deployed to the same nodes: DaemonSet x/theirs \("):
        plan(there)


def test_an_object_of_others_with_our_name_is_refused() -> None:
    key = Ref("v1", "ServiceAccount", "volcano-colocation-agent", SPACE)
    theirs = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": key.name, "namespace": SPACE}}
    with pytest.raises(ClusterError, match=r"^ServiceAccount volcano-system/volcano-colocation-agent exists"):
        plan(cluster(objects={key: theirs}))


def test_labels_that_nobody_spoke_of_stop_the_run_before_its_first_change() -> None:
    for act in (plan, label):
        with pytest.raises(ClusterError) as refused:
            act(cluster(), permission=NOT_SET)
        assert f"Node n1: {COLOCATION_LABEL}=true, {OVERSUBSCRIPTION_LABEL}=true" in str(refused.value)
        assert "evicts offline pods" in str(refused.value)
        assert "Nothing was changed. Set colocation_agent_label_nodes to true" in str(refused.value)


def test_labels_that_are_denied_are_pending_and_all_else_is_done() -> None:
    found = plan(cluster(), permission=DENIED)
    assert len(found.pending) == 2
    assert [step.ref.kind for step in found.steps].count("DaemonSet") == 2
    assert label(cluster(), DENIED) == AgentPlan(pending=found.pending)


def test_nodes_that_have_the_labels_need_no_permission() -> None:
    assert plan(installed(), permission=NOT_SET).pending == ()


def test_without_oversubscription_only_the_other_label_is_set() -> None:
    steps = label(cluster(), chosen=options(features=["Eviction"])).steps
    assert [step.body["metadata"]["labels"] for step in steps[1:]] == [{COLOCATION_LABEL: "true"}] * 2


def test_the_journal_comes_before_the_labels_it_speaks_of() -> None:
    off = seen(node("n1", {COLOCATION_LABEL: "false"}), node("n2"))
    found = label(off)
    assert [step.ref.kind for step in found.steps] == ["ConfigMap", "Node", "Node"]
    journal = parse_journal(found.steps[0].body)
    assert journal is not None
    assert journal.labels["n1"] == {COLOCATION_LABEL: "false", OVERSUBSCRIPTION_LABEL: None}
    # In check mode nobody has made it before.
    assert found.steps[0].operation is Operation.CREATE
    assert label(replace(off, journal=AgentJournal())).steps[0].operation is Operation.PATCH
