# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A workload of the lab's cluster with a PodDisruptionBudget, for tests that drain its node."""

from __future__ import annotations

import json
import time
from typing import Any

from .node import lab

NAME, SECONDS = "web", 120.0
# Ends immediately on a stop: the first process of a container ignores signals without a handler.
SCRIPT = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"


def kubectl(*words: str) -> str:
    return lab("cluster", "kubectl", "--", *words)


def start(replicas: int = 1) -> None:
    """Start pods and wait until they are available."""
    create(replicas)
    wait_for(replicas)


def create(replicas: int = 1) -> None:
    """Create pods of an image that the lab's nodes have, spread over the Nodes."""
    labels = {"app": NAME}
    container = {
        "name": "main",
        "image": "localhost/lab/busybox:1",
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", SCRIPT],
    }
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"weight": 100, "podAffinityTerm": apart}]
    spec = {
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    apply("apps/v1", "Deployment", {"replicas": replicas, **_selecting(labels), "template": _template(labels, spec)})


def keep(least: int) -> None:
    """Set the minimum of available pods in the budget."""
    apply("policy/v1", "PodDisruptionBudget", {"minAvailable": least, **_selecting({"app": NAME})})
    deadline = time.monotonic() + SECONDS
    while not _is_counted(least):
        assert time.monotonic() < deadline, budget()
        time.sleep(2)


def _is_counted(least: int) -> bool:
    status = budget()
    desired = max(status.get("currentHealthy", 0) - least, 0)
    return (status.get("desiredHealthy"), status.get("disruptionsAllowed")) == (least, desired)


def budget() -> dict[str, Any]:
    status: dict[str, Any] = json.loads(kubectl("get", "poddisruptionbudget", NAME, "-o", "json")).get("status") or {}
    return status


def pods() -> list[str]:
    """Return the names of existing pods, running or not."""
    return list(places())


def places() -> dict[str, str]:
    """Return {name of a pod: its Node, '' if not scheduled}."""
    items = json.loads(kubectl("get", "pods", "-l", f"app={NAME}", "-o", "json"))["items"]
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in items}


def scheduling(node: str) -> tuple[str, str]:
    """Return (unschedulable, the collection's annotation) of a Node; empty if unset."""
    template = "{.spec.unschedulable}|{.metadata.annotations.colocation\\.volcano\\.sh/cordoned}"
    closed, _bar, mark = kubectl("get", "node", node, "-o", f"jsonpath={template}").partition("|")
    return closed, mark


def wait_for(count: int) -> None:
    """Wait until this number of pods is available."""
    deadline = time.monotonic() + SECONDS
    desired = ("get", "deployment", NAME, "-o", "jsonpath={.status.availableReplicas}")
    while (kubectl(*desired) or "0") != str(count):
        assert time.monotonic() < deadline, kubectl("describe", "pods", "-l", f"app={NAME}")
        time.sleep(2)


def stop() -> None:
    kubectl("delete", "deployment,poddisruptionbudget", NAME, "--wait=false")
    deadline = time.monotonic() + SECONDS
    while pods():
        assert time.monotonic() < deadline
        time.sleep(2)


def apply(version: str, kind: str, spec: dict[str, Any]) -> None:
    apply_document(
        {"apiVersion": version, "kind": kind, "metadata": {"name": NAME, "namespace": "default"}, "spec": spec}
    )


def apply_document(document: dict[str, Any]) -> None:
    """Create or change an object."""
    lab("cluster", "kubectl", "--", "apply", "-f", "-", text=json.dumps(document))


def _selecting(labels: dict[str, str]) -> dict[str, Any]:
    return {"selector": {"matchLabels": labels}}


def _template(labels: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": spec}
