# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads that run, that do not yet, and why."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.order import Stage, rank, stage
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.proof import State, selector, state, why


def ref(kind: str, api: str = "apps/v1") -> Ref:
    return Ref(api, kind, "a", "b")


def workload(replicas: int | None = None, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"generation": 2},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 2, **status},
    }


def conditions(*found: tuple[str, str]) -> dict[str, Any]:
    told = [{"type": name, "status": status, "reason": "R", "message": "m"} for name, status in found]
    return {"metadata": {}, "status": {"conditions": told}}


STATES: dict[str, tuple[Ref, Any, State]] = {
    "gone": (ref("Deployment"), None, State("it is not there")),
    "unseen": (ref("Deployment"), {"metadata": {"generation": 1}}, State("its last change has not been taken up yet")),
    "old pods": (ref("Deployment"), workload(), State("0 of 1 pods up to date")),
    "no pods": (ref("Deployment"), workload(updatedReplicas=1), State("0 of 1 pods available")),
    "runs": (ref("Deployment"), workload(2, updatedReplicas=2, availableReplicas=2), State()),
    "none wanted": (ref("Deployment"), workload(0), State()),
    "set": (ref("StatefulSet"), workload(1, updatedReplicas=1), State("0 of 1 pods available")),
    "no node": (ref("DaemonSet"), workload(), State()),
    "nodes": (ref("DaemonSet"), workload(desiredNumberScheduled=2), State("0 of 2 pods up to date")),
    "job": (ref("Job", "batch/v1"), conditions(("Complete", "True")), State()),
    "working": (ref("Job", "batch/v1"), {"metadata": {}}, State("it is not Complete yet")),
    "failed": (ref("Job", "batch/v1"), conditions(("Failed", "True")), State("it failed: m", failed=True)),
    "crd": (
        ref("CustomResourceDefinition", "x/v1"),
        conditions(("Established", "False")),
        State("it is not Established yet"),
    ),
    "else": (ref("CronJob", "batch/v1"), {"metadata": {}}, State()),
}


@pytest.mark.parametrize("name", STATES)
def test_what_a_workload_lacks(name: str) -> None:
    where, live, wanted = STATES[name]
    assert state(where, live) == wanted


def pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "status": status}


NOT_READY = {"type": "Ready", "status": "False", "message": "containers with unready status"}
UNPLACED = {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}
PULL = {"name": "c", "state": {"waiting": {"reason": "ErrImagePull", "message": "no such host"}}}
PODS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "ready": (pod(conditions=[{"type": "Ready", "status": "True"}]), ()),
    "done": (pod(phase="Succeeded"), ()),
    "pull": (pod(containerStatuses=[PULL], conditions=[NOT_READY]), ("Pod p: c ErrImagePull no such host",)),
    "pull at first": (pod(initContainerStatuses=[PULL]), ("Pod p: c ErrImagePull no such host",)),
    "no node": (pod(conditions=[UNPLACED], phase="Pending"), ("Pod p: 0/3 nodes are available",)),
    "evicted": (pod(phase="Failed", message="The node was low on memory"), ("Pod p: The node was low on memory",)),
    "silent": (pod(phase="Pending"), ("Pod p: Pending",)),
    "nothing": (pod(), ("Pod p: no reason given",)),
}


@pytest.mark.parametrize("name", PODS)
def test_why_a_pod_does_not_run(name: str) -> None:
    found, told = PODS[name]
    assert why({"metadata": {}}, [found]) == told


def test_a_workload_without_pods_says_itself_why() -> None:
    live = conditions(("ReplicaFailure", "True"), ("Available", "True"), ("Progressing", "False"))
    assert why(live, []) == ("R: m", "R: m")


def test_pods_are_found_by_the_labels_of_their_workload() -> None:
    labels = {"matchLabels": {"app": "x", "tier": "y"}}
    assert selector(ref("Deployment"), {"spec": {"selector": labels}}) == "app=x,tier=y"
    assert selector(ref("Deployment"), {}) == ""
    assert selector(ref("Job", "batch/v1"), {}) == "job-name=a"


def test_every_object_has_its_stage() -> None:
    assert stage(Ref("v1", "Namespace", "a")) is Stage.NAMESPACES
    assert stage(ref("Job", "batch/v1")) is Stage.WORKLOADS
    assert stage(ref("Job", "batch.volcano.sh/v1alpha1")) is Stage.CUSTOM
    assert stage(Ref("apiregistration.k8s.io/v1", "APIService", "a")) is Stage.CUSTOM
    assert stage(ref("PodDisruptionBudget", "policy/v1")) is Stage.ACCESS
    assert stage(Ref("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "a")) is Stage.WEBHOOKS
    assert rank(Ref("scheduling.k8s.io/v1", "PriorityClass", "a")) < rank(ref("ServiceAccount", "v1"))
    assert rank(ref("Job", "batch/v1")) < rank(ref("Deployment")) < rank(Ref("x/v1", "Y", "z"))
