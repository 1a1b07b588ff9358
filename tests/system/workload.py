# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A workload of the lab's cluster with a PodDisruptionBudget, for what drains its node."""

from __future__ import annotations

import json
import time
from typing import Any

from .node import lab

NAME, SECONDS = "web", 120.0
# Leaves at once when it is stopped: the first process of a container ignores signals it has no handler for.
SCRIPT = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"


def kubectl(*words: str) -> str:
    return lab("cluster", "kubectl", "--", *words)


def start(replicas: int = 1) -> None:
    """Pods of an image that every node of the lab has, on as many Nodes as there are."""
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
    wait_for(replicas)


def keep(least: int) -> None:
    """The budget: how many pods have to be there."""
    apply("policy/v1", "PodDisruptionBudget", {"minAvailable": least, **_selecting({"app": NAME})})
    deadline = time.monotonic() + SECONDS
    while not _is_counted(least):
        assert time.monotonic() < deadline, budget()
        time.sleep(2)


def _is_counted(least: int) -> bool:
    found = budget()
    wanted = max(found.get("currentHealthy", 0) - least, 0)
    return (found.get("desiredHealthy"), found.get("disruptionsAllowed")) == (least, wanted)


def budget() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kubectl("get", "poddisruptionbudget", NAME, "-o", "json")).get("status") or {}
    return found


def pods() -> list[str]:
    """Names of the pods that are there, running or not."""
    return list(places())


def places() -> dict[str, str]:
    """{name of a pod: its Node, '' while it has none}."""
    found = json.loads(kubectl("get", "pods", "-l", f"app={NAME}", "-o", "json"))["items"]
    return {each["metadata"]["name"]: each["spec"].get("nodeName", "") for each in found}


def scheduling(node: str) -> tuple[str, str]:
    """(unschedulable, our mark) of a Node; empty where it has none."""
    template = "{.spec.unschedulable}|{.metadata.annotations.colocation\\.volcano\\.sh/cordoned}"
    closed, _bar, mark = kubectl("get", "node", node, "-o", f"jsonpath={template}").partition("|")
    return closed, mark


def wait_for(count: int) -> None:
    """Until so many pods are available."""
    deadline = time.monotonic() + SECONDS
    wanted = ("get", "deployment", NAME, "-o", "jsonpath={.status.availableReplicas}")
    while (kubectl(*wanted) or "0") != str(count):
        assert time.monotonic() < deadline, kubectl("describe", "pods", "-l", f"app={NAME}")
        time.sleep(2)


def stop() -> None:
    kubectl("delete", "deployment,poddisruptionbudget", NAME, "--wait=false")
    deadline = time.monotonic() + SECONDS
    while pods():
        assert time.monotonic() < deadline
        time.sleep(2)


def apply(version: str, kind: str, spec: dict[str, Any]) -> None:
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": NAME, "namespace": "default"}, "spec": spec}
    lab("cluster", "kubectl", "--", "apply", "-f", "-", text=json.dumps(document))


def _selecting(labels: dict[str, str]) -> dict[str, Any]:
    return {"selector": {"matchLabels": labels}}


def _template(labels: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": spec}
