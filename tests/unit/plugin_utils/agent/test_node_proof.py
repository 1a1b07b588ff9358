# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verification of the agent from the observed objects: each problem has a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.manifests import render_daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.node_proof import Agents, NodeProof, prove_nodes
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import (
    OVERSUBSCRIPTION_LABEL,
    POOL_LABEL,
)
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import (
    host,
    node,
    options,
    pools,
    served,
)

CHOSEN = options()
POOLED = pools([host("n1")], CHOSEN)[0]
SET = served(render_daemon_set(POOLED, CHOSEN))
SET["status"]["observedGeneration"] = 1
LABELS = {POOL_LABEL: POOLED.name, OVERSUBSCRIPTION_LABEL: "true"}
REPORTED = {"kubernetes.io/batch-cpu": "900"}


def pod(ready: str = "True", **status: Any) -> dict[str, Any]:
    """The agent's pod in the API server."""
    spec = json.loads(json.dumps(SET["spec"]["template"]["spec"]))
    return {
        "metadata": {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {**spec, "nodeName": "n1"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [{"name": "volcano-agent", "containerID": "containerd://abc"}],
            **status,
        },
    }


def proof(
    live: LiveNode | None = None, sets: Any = (SET,), pods: Any = None, *, oversubscribed: bool = True, **different: Any
) -> NodeProof:
    live = live or node("n1", LABELS, reported=REPORTED)
    agents = Agents(sets, (pod(),) if pods is None else pods, oversubscribed)
    (result,) = prove_nodes({"n1": host("n1", **different)}, [live, node("other")], agents)
    return result


def test_a_node_without_problems() -> None:
    result = proof()
    assert result.to_result() == {
        "host": "n1",
        "node": "n1",
        "pool": POOLED.name,
        "agent_reason": "",
        "cgroup": "kubepods.slice",
        "cgroup_reason": "",
        "batch_cpu": "900",
        "batch_cpu_reason": "",
        "usage_reason": "",
        "process": {"container": "abc", "cgroup": "kubepods.slice", "writes": True},
        "verified": True,
    }


MEMORY = 8 << 30


def reporting(memory: str, **proof_options: Any) -> NodeProof:
    """The proof of a Node with 8 GiB whose agent reports this amount of memory, of a ratio of 60 %."""
    observed = {"status": {"allocatable": {"memory": "8Gi"}}}
    live = replace(node("n1", LABELS, reported={**REPORTED, "kubernetes.io/batch-memory": memory}), observed=observed)
    return proof(live, **proof_options)


def test_amounts_as_if_no_pod_used_memory_are_reported() -> None:
    """The agent itself is a pod, so a usage of 0 was not measured."""
    result = reporting(str(MEMORY * 60 // 100))
    assert result.usage_reason == (
        "kubernetes.io/batch-memory is 60 % of all memory of the Node, as if its pods used none: the agent cannot read"
        " kubepods.slice in its container; see the agent's log"
    )
    assert result.reasons == (result.usage_reason,)


@pytest.mark.parametrize("memory", [str((MEMORY - (1 << 20)) * 60 // 100), "4608Mi", "0"])
def test_amounts_that_depend_on_usage_and_no_memory_are_in_order(memory: str) -> None:
    assert reporting(memory).reasons == ()


def test_amounts_of_a_node_that_is_not_labelled_are_not_judged() -> None:
    assert reporting(str(MEMORY * 60 // 100), oversubscribed=False).reasons == ()


def test_the_process_of_an_agent_with_a_problem_is_not_read() -> None:
    assert proof(pods=(pod("False"),)).to_result()["process"] == {}


@pytest.mark.parametrize(("features", "writes"), [(["OverSubscription", "Eviction"], False), (["CPUThrottle"], True)])
def test_an_agent_without_writing_features_needs_no_capability(features: list[str], writes: bool) -> None:
    chosen = options(features=features)
    pooled = pools([host("n1")], chosen)[0]
    daemon_set = served(render_daemon_set(pooled, chosen))
    daemon_set["status"]["observedGeneration"] = 1
    spec = daemon_set["spec"]["template"]["spec"]
    live = node("n1", {**LABELS, POOL_LABEL: pooled.name}, reported=REPORTED)
    result = proof(live, sets=(daemon_set,), pods=({**pod(), "spec": {**spec, "nodeName": "n1"}},))
    assert result.reasons == ()
    assert result.to_result()["process"]["writes"] is writes


def test_missing_objects_and_labels_are_reported() -> None:
    assert proof(node("n1"), pods=()).reasons == (
        "the Node has no label colocation.volcano.sh/pool",
        "kubernetes.io/batch-cpu is not among its allocatable resources:"
        " the Node has no label volcano.sh/oversubscription=true",
    )
    assert proof(sets=()).agent == f"its pool {POOLED.name} has no DaemonSet"
    assert proof(pods=()).agent == "the agent has no pod on this Node"


def test_a_change_that_the_controller_has_not_observed_yet() -> None:
    later = {**SET, "metadata": {**SET["metadata"], "generation": 2}}
    assert proof(sets=(later,)).agent == "the DaemonSet controller has not observed the last change yet"


def rolling(**variables: Any) -> dict[str, Any]:
    """A DaemonSet whose change was observed, but has not reached the Node's pod."""
    chosen = options(**variables)
    daemon_set = served(render_daemon_set(replace(POOLED, kind=pools([host("n1")], chosen)[0].kind), chosen))
    return {**daemon_set, "status": {"observedGeneration": 1, "desiredNumberScheduled": 1, "updatedNumberScheduled": 0}}


@pytest.mark.parametrize(
    ("variables", "what"),
    [
        ({"image": "vc-agent:v1.15.0"}, "image of volcano-agent-init, image of volcano-agent"),
        ({"features": ["OverSubscription"]}, "args of volcano-agent"),
        ({"oversubscription_ratio": 30}, "args of volcano-agent"),
        ({"port": 3301}, "args, livenessProbe, readinessProbe of volcano-agent"),
        ({"resources": {"requests": {"cpu": "60m"}}}, "resources of volcano-agent-init, resources of volcano-agent"),
    ],
)
def test_a_pod_of_the_previous_template_is_named_during_an_update(variables: dict[str, Any], what: str) -> None:
    assert proof(sets=(rolling(**variables),)).agent == f"its pod still has the previous template ({what})"


def test_differences_in_selinux_options_and_environment_are_named() -> None:
    confined = rolling()
    confined["spec"]["template"]["spec"]["securityContext"]["seLinuxOptions"] = {"type": "spc_t"}
    assert proof(sets=(confined,)).agent == "its pod still has the previous template (securityContext)"
    moved = rolling()
    moved["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "cgroupfs"
    assert proof(sets=(moved,)).agent == "its pod still has the previous template (env of volcano-agent)"


def test_a_pod_of_an_earlier_template_generation_is_named() -> None:
    newer = rolling()
    newer["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "2"
    old = pod()
    old["metadata"]["labels"] = {"pod-template-generation": "1"}
    assert proof(sets=(newer,), pods=(old,)).agent == "its pod still has the previous template (template 1 of 2)"
    old["metadata"]["labels"] = {"pod-template-generation": "2"}
    assert proof(sets=(newer,), pods=(old,)).agent == ""


def test_additions_by_admission_are_not_differences() -> None:
    live = pod()
    token = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    live["spec"]["volumes"].append({"name": "kube-api-access-x", "projected": {"sources": []}})
    live["spec"]["containers"].insert(0, {"name": "sidecar", "image": "x", "args": []})
    for container in live["spec"]["containers"][1:] + live["spec"]["initContainers"]:
        container["volumeMounts"].append(token)
        container["imagePullPolicy"] = "Always"
        container["resources"]["limits"] = {"cpu": "1"}
        container.setdefault("env", []).insert(0, {"name": "HTTP_PROXY", "value": "x"})
    assert proof(sets=(rolling(),), pods=(live,)).agent == ""


def test_the_daemon_sets_own_count_takes_precedence_over_changes_by_admission() -> None:
    mirrored = pod()
    mirrored["spec"]["containers"][0]["image"] = "mirror/vc-agent:v1.14.0"
    assert proof(sets=(rolling(),), pods=(mirrored,)).agent.endswith("previous template (image of volcano-agent)")
    done = rolling()
    done["status"]["updatedNumberScheduled"] = 1
    assert proof(sets=(done,), pods=(mirrored,)).agent == ""


def test_a_pod_that_is_being_deleted_does_not_count_as_working() -> None:
    terminating = pod()
    terminating["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert proof(pods=(terminating,)).agent == "its pod is being deleted"


def test_the_newer_of_two_pods_counts() -> None:
    younger = pod("False")
    younger["metadata"]["creationTimestamp"] = "2026-01-02T00:00:00Z"
    assert proof(pods=(younger, pod())).agent.startswith("the agent is not Ready")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (
            {"containerStatuses": [{"name": "a", "state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}]},
            "a ErrImagePull no",
        ),
        (
            {
                "initContainerStatuses": [{"name": "i", "state": {"terminated": {"reason": "Completed"}}}],
                "containerStatuses": [{"name": "a", "state": {"terminated": {"reason": "Error"}}}],
            },
            "a Error",
        ),
        ({"conditions": [{"type": "Ready", "status": "False", "message": "probe failed"}]}, "probe failed"),
        ({"conditions": [], "phase": "Pending"}, "Pending"),
        ({"conditions": [], "phase": None}, "no reason given"),
    ],
)
def test_reasons_why_a_pod_is_not_ready(status: dict[str, Any], why: str) -> None:
    assert proof(pods=(pod("False", **status),)).agent == f"the agent is not Ready: {why}"


def test_the_cgroup_is_derived_from_the_running_pods_environment_and_flags() -> None:
    guessing = pod()
    guessing["spec"]["containers"][0]["env"][0]["value"] = ""
    assert (
        proof(pods=(guessing,)).cgroup_reason
        == "CGROUP_DRIVER of its pod is '', so the agent detects the driver itself"
    )
    other = pod()
    other["spec"]["containers"][0]["env"][0]["value"] = "cgroupfs"
    assert proof(pods=(other,)).cgroup_reason == "the agent uses the cgroupfs driver, and kubelet systemd"
    rooted = pod()
    rooted["spec"]["containers"][0]["args"].append("--kube-cgroup-root=pods")
    result = proof(pods=(rooted,))
    assert result.cgroup == "pods.slice/pods-kubepods.slice"
    assert result.cgroup_reason.startswith(
        "the agent expects pods in pods.slice/pods-kubepods.slice, and the node has /sys"
    )
    assert proof(trees=()).cgroup_reason.endswith("the node has no cgroup of pods")


def test_reasons_for_missing_batch_cpu() -> None:
    bare = node("n1", LABELS)
    missing = "kubernetes.io/batch-cpu is not among its allocatable resources"
    assert proof(bare).batch_cpu_reason == f"{missing}: the agent has not reported it; see the agent's log"
    assert proof(bare, pods=(pod("False"),)).batch_cpu_reason == f"{missing}: no agent works on it"
    chosen = rolling(features=["Eviction"])
    without = {**pod(), "spec": {**chosen["spec"]["template"]["spec"], "nodeName": "n1"}}
    result = proof(bare, sets=(chosen,), pods=(without,))
    assert result.batch_cpu_reason == f"{missing}: its agent does not have the feature OverSubscription"
    assert proof(bare, oversubscribed=False).reasons == ()
