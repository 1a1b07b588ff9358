# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the agent works is told by what is there: each thing that is not as it should be has its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.daemon_set import daemon_set
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.names import OVERSUBSCRIPTION, POOL
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.proof import Agents, NodeProof, prove
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.seen import LiveNode
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.agent.agents import (
    host,
    node,
    options,
    pools,
    served,
)

CHOSEN = options()
POOLED = pools([host("n1")], CHOSEN)[0]
SET = served(daemon_set(POOLED, CHOSEN))
SET["status"]["observedGeneration"] = 1
LABELS = {POOL: POOLED.name, OVERSUBSCRIPTION: "true"}
REPORTED = {"kubernetes.io/batch-cpu": "900"}


def pod(ready: str = "True", **status: Any) -> dict[str, Any]:
    """The agent's pod as the API server has it."""
    spec = json.loads(json.dumps(SET["spec"]["template"]["spec"]))
    return {
        "metadata": {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {**spec, "nodeName": "n1"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}], **status},
    }


def proof(
    live: LiveNode | None = None, sets: Any = (SET,), pods: Any = None, *, oversubscribed: bool = True, **different: Any
) -> NodeProof:
    live = live or node("n1", LABELS, reported=REPORTED)
    agents = Agents(sets, (pod(),) if pods is None else pods, oversubscribed)
    (found,) = prove({"n1": host("n1", **different)}, [live, node("other")], agents)
    return found


def test_all_as_it_should_be() -> None:
    found = proof()
    assert found.published() == {
        "node": "n1",
        "pool": POOLED.name,
        "agent": "",
        "cgroup": "kubepods.slice",
        "cgroup_reason": "",
        "batch_cpu": "900",
        "batch_cpu_reason": "",
        "proven": True,
    }


def test_where_nothing_is_all_is_told() -> None:
    assert proof(node("n1"), pods=()).reasons == (
        "the Node has no label colocation.volcano.sh/pool",
        "kubernetes.io/batch-cpu is not among its resources: the Node has no label volcano.sh/oversubscription=true",
    )
    assert proof(sets=()).agent == f"there is no DaemonSet for its pool {POOLED.name}"
    assert proof(pods=()).agent == "no pod of the agent is on it"


def test_an_older_generation_or_image_is_not_the_one_that_is_wanted() -> None:
    later = {**SET, "metadata": {**SET["metadata"], "generation": 2}}
    assert proof(sets=(later,)).agent == "the DaemonSet's last change has not been taken up yet"
    old = pod()
    old["spec"]["containers"][0]["image"] = "vc-agent:old"
    assert proof(pods=(old,)).agent == "its pod still has the image vc-agent:old"


def test_of_two_pods_the_younger_counts() -> None:
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
def test_why_a_pod_is_not_ready(status: dict[str, Any], why: str) -> None:
    assert proof(pods=(pod("False", **status),)).agent == f"the agent is not Ready: {why}"


def test_the_cgroup_is_that_of_the_running_pods_environment_and_flags() -> None:
    guessing = pod()
    guessing["spec"]["containers"][0]["env"][0]["value"] = ""
    assert proof(pods=(guessing,)).cgroup_reason == "CGROUP_DRIVER of its pod is '', so that it guesses the driver"
    other = pod()
    other["spec"]["containers"][0]["env"][0]["value"] = "cgroupfs"
    assert proof(pods=(other,)).cgroup_reason == "the agent has the cgroupfs driver and kubelet systemd"
    rooted = pod()
    rooted["spec"]["containers"][0]["args"].append("--kube-cgroup-root=pods")
    found = proof(pods=(rooted,))
    assert found.cgroup == "pods.slice/pods-kubepods.slice"
    assert found.cgroup_reason.startswith(
        "the agent looks for pods in pods.slice/pods-kubepods.slice, and there is /sys"
    )
    assert proof(trees=()).cgroup_reason.endswith("there is no cgroup of pods")


def test_why_nothing_is_offered() -> None:
    bare = node("n1", LABELS)
    missing = "kubernetes.io/batch-cpu is not among its resources"
    assert proof(bare).batch_cpu_reason == f"{missing}: the agent has not reported it; its log says why"
    assert proof(bare, pods=(pod("False"),)).batch_cpu_reason == f"{missing}: no agent works there"
    without = pod()
    without["spec"]["containers"][0]["args"] = ["--supported-features=Eviction"]
    assert proof(bare, pods=(without,)).batch_cpu_reason == f"{missing}: its agent has no OverSubscription"
    assert proof(bare, oversubscribed=False).reasons == ()
