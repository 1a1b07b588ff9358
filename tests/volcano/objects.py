# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of Kubernetes' and Volcano's objects, and facts of observed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import fake_node

SCHEDULING, BATCH, FLOW = "scheduling.volcano.sh/v1beta1", "batch.volcano.sh/v1alpha1", "flow.volcano.sh/v1alpha1"
API_VERSIONS = {
    "Command": "bus.volcano.sh/v1alpha1",
    "ConfigMap": "v1",
    "DaemonSet": "apps/v1",
    "Event": "v1",
    "Job": BATCH,
    "JobFlow": FLOW,
    "JobTemplate": FLOW,
    "Namespace": "v1",
    "Node": "v1",
    "Pod": "v1",
    "PodGroup": SCHEDULING,
    "PriorityClass": "scheduling.k8s.io/v1",
    "Queue": SCHEDULING,
    "Service": "v1",
    "ServiceAccount": "v1",
    "MutatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
}
"""The version of each kind; Job is Volcano's."""

Manifest = dict[str, Any]


def namespace(name: str) -> Manifest:
    return _object("Namespace", name)


def queue(name: str, **spec: Any) -> Manifest:
    return _object("Queue", name, spec=spec)


def priority_class(name: str, value: int, policy: str = "PreemptLowerPriority") -> Manifest:
    manifest = _object("PriorityClass", name)
    return {**manifest, "value": value, "preemptionPolicy": policy}


def job(name: str, space: str, *tasks: Manifest, minimum: int | None = None, **spec: Any) -> Manifest:
    """A VolcanoJob; ``minimum`` is its minAvailable, all pods by default."""
    count = sum(int(task["replicas"]) for task in tasks)
    head = {"schedulerName": "volcano", "minAvailable": count if minimum is None else minimum}
    return _object("Job", name, space, {**head, "tasks": list(tasks), **spec})


def task(name: str = "main", replicas: int = 1, pod: Manifest | None = None, **spec: Any) -> Manifest:
    """A task of a VolcanoJob. ``pod``: the spec of its pods (``pod_spec``); ``spec``: more fields of the task."""
    template = {"spec": pod or pod_spec()}
    return {"name": name, "replicas": replicas, "template": template, **spec}


def pod(name: str, space: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A pod with the fields of ``pod_spec``."""
    manifest = _object("Pod", name, space, pod_spec(**spec))
    manifest["metadata"]["annotations"] = dict(annotations or {})
    return manifest


def pod_spec(
    cpu: str = "1", pool: str = "", priority: str = "", requests: Mapping[str, str] | None = None, **spec: Any
) -> Manifest:
    """The spec of a pod for Volcano's scheduler, on Nodes of one pool; ``cpu=""`` requests nothing."""
    resources = {**({"cpu": cpu} if cpu else {}), **(requests or {})}
    container = {"name": "main", "image": "localhost/lab/busybox:1", "resources": {"requests": resources}}
    selected = {"nodeSelector": {POOL: pool}} if pool else {}
    classed = {"priorityClassName": priority} if priority else {}
    return {"schedulerName": "volcano", "containers": [container], **selected, **classed, **spec}


POOL = "colocation-test/pool"
"""A label of Nodes: the Nodes of a pool are used by one test at a time."""


def names(objects: Iterable[Manifest]) -> list[str]:
    return sorted(name_of(item) for item in objects)


def nodes_of(pods: Iterable[Manifest]) -> list[str]:
    """The node of each pod, '' where it is not bound."""
    return sorted(str(item["spec"].get("nodeName") or "") for item in pods)


def phase(item: Manifest | None) -> str:
    """The phase of a PodGroup or pod; the phase of the state of a VolcanoJob."""
    status = (item or {}).get("status") or {}
    return str(status.get("phase") or (status.get("state") or {}).get("phase") or "")


def _object(kind: str, name: str, space: str | None = None, spec: Manifest | None = None) -> Manifest:
    metadata = {"name": name, **({"namespace": space} if space else {})}
    return {
        "apiVersion": API_VERSIONS[kind],
        "kind": kind,
        "metadata": metadata,
        **({"spec": spec} if spec is not None else {}),
    }


def name_of(item: Manifest) -> str:
    return str(item["metadata"]["name"])


def config_map(name: str, space: str) -> Manifest:
    return _object("ConfigMap", name, space)


def pod_group(name: str, space: str, **spec: Any) -> Manifest:
    return _object("PodGroup", name, space, spec)


def fake_node_of(pool: str, name: str, **capacity: str) -> Manifest:
    """A further Node of a pool."""
    return fake_node(f"{pool}-{name}", {POOL: pool}, **capacity)


def ended(result: str) -> Manifest:
    """The patch with which KWOK ends a running pod as Succeeded or Failed (kwok_pod_with_annotation.yaml)."""
    return {"metadata": {"annotations": {"lab/ends": result}}}
