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


def start() -> None:
    """One pod, on whichever Node takes it, of an image that every node of the lab has."""
    container = {
        "name": "main",
        "image": "localhost/lab/busybox:1",
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", SCRIPT],
    }
    spec = {
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 2,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    labels = {"app": NAME}
    apply("apps/v1", "Deployment", {"replicas": 1, **_selecting(labels), "template": _template(labels, spec)})
    wait_for(1)


def keep(least: int) -> None:
    """The budget: how many pods have to be there."""
    apply("policy/v1beta1", "PodDisruptionBudget", {"minAvailable": least, **_selecting({"app": NAME})})
    deadline = time.monotonic() + SECONDS
    while (budget().get("disruptionsAllowed"), budget().get("desiredHealthy")) != (1 - least, least):
        assert time.monotonic() < deadline, budget()
        time.sleep(2)


def budget() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kubectl("get", "poddisruptionbudget", NAME, "-o", "json")).get("status") or {}
    return found


def pods() -> list[str]:
    """Names of the pods that are there, running or not."""
    return kubectl("get", "pods", "-l", f"app={NAME}", "-o", "jsonpath={.items[*].metadata.name}").split()


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
