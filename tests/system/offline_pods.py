# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Online and offline pods of the lab's cluster, and the values of an offline pod in the node's cgroups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .node import Node
from .workload import apply_document, kubectl

SECONDS = 240.0
IDLE = "trap 'exit 0' TERM; sleep 100000 & wait"
BUSY = "yes > /dev/null & yes > /dev/null & trap 'kill %1 %2; exit 0' TERM; wait"
BATCH = {"kubernetes.io/batch-cpu": "200", "kubernetes.io/batch-memory": "67108864"}
OFFLINE = {"volcano.sh/qos-level": "BE"}

Result = TypeVar("Result")


def until(look: Callable[[], Result], seconds: float = SECONDS) -> Result:
    """The first true result of ``look``."""
    deadline = time.monotonic() + seconds
    while not (result := look()):
        assert time.monotonic() < deadline, kubectl("describe", "nodes") + kubectl("describe", "pods")
        time.sleep(0.5)
    return result


def template(
    name: str, resources: dict[str, Any], command: str, annotations: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A pod of the lab's busybox; ``app`` is its label."""
    container = {
        "name": "main",
        "image": "localhost/lab/busybox:1",
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", command],
        "resources": resources,
    }
    fields = {
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    return {"metadata": {"labels": {"app": name}, "annotations": annotations or {}}, "spec": {**fields, **spec}}


def create_pod(name: str, node: Node, pod: dict[str, Any]) -> None:
    """A pod on this Node, from a template."""
    metadata = {**pod["metadata"], "name": name, "namespace": "default"}
    spec = {**pod["spec"], "nodeName": node.name}
    apply_document({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def create_deployment(name: str, pod: dict[str, Any]) -> None:
    """A Deployment of one pod, from a template."""
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": pod}
    metadata = {"name": name, "namespace": "default"}
    apply_document({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})


def delete(app: str) -> None:
    """Delete the Deployment and the pods with this label, and wait for their end."""
    kubectl("delete", "deployment,pod", "-l", f"app={app}", "--wait=false")
    kubectl("delete", "deployment", app, "--ignore-not-found", "--wait=false")
    until(lambda: not kubectl("get", "pods", "-l", f"app={app}", "-o", "name"))


def places(app: str) -> list[str]:
    """The Nodes of running pods that are not being deleted."""
    pods = json.loads(kubectl("get", "pods", "-l", f"app={app}", "-o", "json"))["items"]
    running = [
        pod for pod in pods if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]
    return [pod["spec"]["nodeName"] for pod in running]


PODS = {
    ("v1", "cgroupfs"): ("/sys/fs/cgroup/cpu,cpuacct/kubepods/besteffort/pod{uid}", ("cpu.shares", "cpu.cfs_quota_us")),
    ("v1", "systemd"): (
        "/sys/fs/cgroup/cpu,cpuacct/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{name}.slice",
        ("cpu.shares", "cpu.cfs_quota_us"),
    ),
    ("v2", "systemd"): (
        "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{name}.slice",
        ("cpu.weight", "cpu.max"),
    ),
}
"""The cgroup of a BestEffort pod by cgroup version and driver, and its files that the feature Resources writes."""

EXPECTED = {"v1": ("204", "20000"), "v2": ("20", "20000 100000")}
"""Their texts for 200 of batch-cpu."""


def values(node: Node, pod: str, kind: tuple[str, str]) -> tuple[str, ...]:
    """The texts of both files for a pod; empty while the pod has no cgroup."""
    uid = kubectl("get", "pod", pod, "-o", "jsonpath={.metadata.uid}")
    directory, files = PODS[kind]
    path = directory.format(uid=uid, name=uid.replace("-", "_"))
    return tuple(node.shell(f"cd {path} 2>/dev/null && cat {' '.join(files)} || true").splitlines())
