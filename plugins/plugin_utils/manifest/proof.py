# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what was installed runs, and what keeps it from running."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..agent.proof import held_up
from ..kube.objects import Object, Ref


@dataclass(frozen=True)
class State:
    """``lacks`` is empty where a workload is as it should be; ``failed``: waiting does not help any more."""

    lacks: str = ""
    failed: bool = False


def state(ref: Ref, live: Object | None) -> State:
    """Of a Deployment, DaemonSet, StatefulSet or Job; of any other object that it is there."""
    if live is None:
        return State("it is not there")
    if ref.kind == "Job" and ref.group == "batch":
        return _job(live)
    if ref.kind == "CustomResourceDefinition":
        return _conditional(live, "Established")
    if ref.group == "apps" and ref.kind in _COUNTS:
        return _counted(live, *_COUNTS[ref.kind])
    return State()


def selector(ref: Ref, live: Object) -> str:
    """The labels by which a workload's pods are found."""
    if ref.kind == "Job":
        return f"job-name={ref.name}"
    labels = ((live.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    return ",".join(f"{name}={value}" for name, value in labels.items())


def why(live: Object, pods: Iterable[Object]) -> tuple[str, ...]:
    """What keeps the pods of a workload from running, or what keeps it from having any."""
    found = [told for each in pods if (told := _pod(each))]
    return tuple(found) or tuple(
        f"{each.get('reason')}: {each.get('message')}" for each in _conditions(live) if _is_bad(each)
    )


_COUNTS: Mapping[str, tuple[str, str]] = {
    "Deployment": ("updatedReplicas", "availableReplicas"),
    "StatefulSet": ("updatedReplicas", "readyReplicas"),
    "DaemonSet": ("updatedNumberScheduled", "numberAvailable"),
}


def _counted(live: Object, updated: str, available: str) -> State:
    status: Mapping[str, Any] = live.get("status") or {}
    if status.get("observedGeneration", 0) < live["metadata"].get("generation", 0):
        return State("its last change has not been taken up yet")
    wanted = status.get("desiredNumberScheduled", 0) if "Scheduled" in updated else _replicas(live)
    for name in (updated, available):
        if status.get(name, 0) < wanted:
            word = "up to date" if name == updated else "available"
            return State(f"{status.get(name, 0)} of {wanted} pods {word}")
    return State()


def _replicas(live: Object) -> int:
    found = (live.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)


def _job(live: Object) -> State:
    for each in _conditions(live):
        if each.get("status") == "True" and each.get("type") == "Failed":
            return State(f"it failed: {each.get('message') or each.get('reason')}", failed=True)
    return _conditional(live, "Complete")


def _conditional(live: Object, name: str) -> State:
    found: Mapping[str, Any] = next((each for each in _conditions(live) if each.get("type") == name), {})
    return State() if found.get("status") == "True" else State(f"it is not {name} yet")


def _conditions(live: Object) -> Iterable[Mapping[str, Any]]:
    return (live.get("status") or {}).get("conditions") or ()


def _is_bad(condition: Mapping[str, Any]) -> bool:
    return (condition.get("type"), condition.get("status")) in (
        ("ReplicaFailure", "True"),
        ("Progressing", "False"),
        ("Available", "False"),
    )


def _pod(pod: Object) -> str:
    """Why a pod is not Ready; empty for one that is, or has done its work."""
    status = pod.get("status") or {}
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in _conditions(pod))
    if ready or status.get("phase") == "Succeeded":
        return ""
    parts = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    held = next(filter(None, map(held_up, parts)), "")
    waits = next((each for each in _conditions(pod) if each.get("status") == "False" and each.get("message")), {})
    told = held or waits.get("message") or status.get("message") or status.get("phase") or "no reason given"
    return f"Pod {pod['metadata']['name']}: {told}"
