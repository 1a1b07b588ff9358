# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until objects of an API server are deleted or ready, and report why they are not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .api_errors import ApiError, ClusterError
from .dynamic_client import Client
from .objects import Object, Ref

State = TypeVar("State")

POLL_READY, POLL_DELETED = 5.0, 2.0
"""Seconds between two checks."""
CRD = "CustomResourceDefinition"
_COUNTS: Mapping[str, tuple[str, str]] = {
    "Deployment": ("updatedReplicas", "availableReplicas"),
    "StatefulSet": ("updatedReplicas", "readyReplicas"),
    "DaemonSet": ("updatedNumberScheduled", "numberAvailable"),
}


@dataclass(frozen=True)
class WaitOptions:
    """``timeout`` in seconds, for all objects together; ``show`` prints progress for the user."""

    timeout: float
    sleep: Callable[[float], None] = time.sleep
    show: Callable[[str], None] = lambda _message: None
    now: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Readiness:
    """``lacks`` says what an object lacks to be ready, empty where it is ready; ``failed``: waiting does not help."""

    lacks: str = ""
    failed: bool = False


def poll(check: Callable[[], Readiness], options: WaitOptions, pause: float) -> Readiness:
    """Check every ``pause`` seconds, at least once; return the last state: ready, failed, or at the timeout."""
    end = options.now() + options.timeout
    while True:
        state = check()
        if not state.lacks or state.failed or options.now() >= end:
            return state
        options.sleep(pause)


def observe(look: Callable[[], State], lacks: Callable[[State], str], options: WaitOptions) -> State:
    """Look until nothing is missing, at least once; return the last state, also at the timeout.

    While the API server does not work, it is asked again until the timeout; then ApiError. ``lacks`` says what is
    missing, empty for nothing.
    """
    latest = _Latest(look, lacks, options.show)
    poll(latest.check, options, POLL_READY)
    return latest.state()


class _Latest(Generic[State]):
    """The last state, or the error in place of it."""

    def __init__(self, look: Callable[[], State], lacks: Callable[[State], str], show: Callable[[str], None]) -> None:
        self._look, self._lacks, self._show = look, lacks, show
        self._seen: State | ApiError

    def check(self) -> Readiness:
        try:
            self._seen = self._look()
            missing = self._lacks(self._seen)
        except ApiError as error:
            if not error.is_outage:
                raise
            self._seen = error
            missing = error.reason
        if missing:
            self._show(f"waiting: {missing}")
        return Readiness(missing)

    def state(self) -> State:
        if isinstance(self._seen, ApiError):
            raise self._seen
        return self._seen


def delete_and_wait(client: Client, ref: Ref, options: WaitOptions) -> None:
    """Delete an object with its dependents, and wait until it does not exist any more. A dry run does not wait."""
    client.delete(ref, propagation="Foreground")
    if client.dry_run:
        return
    state = poll(lambda: Readiness("it still exists" if client.find(ref) else ""), options, POLL_DELETED)
    if state.lacks:
        raise ClusterError(
            f"{ref.place} still exists {options.timeout:g} s after it was deleted",
            "Check its finalizers and the objects that it owns, and run again.",
        )


def wait_until_ready(client: Client, refs: Iterable[Ref], options: WaitOptions, remedy: str) -> None:
    """Wait until all objects are ready; ClusterError with the reasons where one is not ready in time."""
    waiting = _Waiting(client, list(refs), options.show)
    if poll(waiting.look, options, POLL_READY).lacks:
        raise ClusterError(f"Installed objects are not ready: {waiting.explain()}", remedy)


class _Waiting:
    """Objects that are not ready yet, with their last observed state."""

    def __init__(self, client: Client, refs: list[Ref], show: Callable[[str], None]) -> None:
        self._client, self._remaining, self._show = client, refs, show
        self._live: dict[Ref, Object | None] = {}
        self._states: dict[Ref, Readiness] = {}

    def look(self) -> Readiness:
        """The state of all objects together; every change of it is shown."""
        before = self._states
        self._live = {ref: self._client.find(ref) for ref in self._remaining}
        self._states = {ref: readiness(ref, live) for ref, live in self._live.items()}
        self._remaining = [ref for ref in self._remaining if self._states[ref].lacks]
        for ref in self._remaining:
            if self._states[ref].lacks != before.get(ref, Readiness()).lacks:
                self._show(f"waiting for {ref.place}: {self._states[ref].lacks}")
        places = ", ".join(ref.place for ref in self._remaining)
        return Readiness(places, any(self._states[ref].failed for ref in self._remaining))

    def explain(self) -> str:
        return "; ".join(_explain(self._client, ref, self._live[ref], self._states[ref]) for ref in self._remaining)


def _explain(client: Client, ref: Ref, live: Object | None, state: Readiness) -> str:
    if live is None or ref.kind == CRD:
        return f"{ref.place}: {state.lacks}"
    labels = pod_selector(ref, live)
    pods = client.list_all("v1", "Pod", namespace=ref.namespace or "", labels=labels) if labels else ()
    reasons = pod_problems(live, pods)
    return f"{ref.place}: {state.lacks}" + (f" ({'; '.join(reasons)})" if reasons else "")


def readiness(ref: Ref, live: Object | None) -> Readiness:
    """The state of a Deployment, DaemonSet, StatefulSet, Job or CRD; any other object is ready if it exists."""
    if live is None:
        return Readiness("it does not exist")
    if ref.kind == "Job" and ref.group == "batch":
        return _job_readiness(live)
    if ref.kind == CRD:
        return _condition_readiness(live, "Established")
    if ref.group == "apps" and ref.kind in _COUNTS:
        return _workload_readiness(live, *_COUNTS[ref.kind])
    return Readiness()


def pod_selector(ref: Ref, live: Object) -> str:
    """The label selector of a workload's pods."""
    if ref.kind == "Job":
        return f"job-name={ref.name}"
    labels = ((live.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    return ",".join(f"{name}={value}" for name, value in labels.items())


def pod_problems(live: Object, pods: Iterable[Object]) -> tuple[str, ...]:
    """Why the pods of a workload do not run, or why it has none."""
    problems = [reason for pod in pods if (reason := _pod_problem(pod))]
    return tuple(problems) or tuple(
        f"{item.get('reason')}: {item.get('message')}" for item in conditions(live) if _is_problem(item)
    )


def conditions(live: Object) -> Iterable[Mapping[str, Any]]:
    return (live.get("status") or {}).get("conditions") or ()


def condition(live: Object, name: str) -> Mapping[str, Any]:
    """The condition of this type; empty where it is not reported."""
    match: Mapping[str, Any] = next((item for item in conditions(live) if item.get("type") == name), {})
    return match


def is_condition_true(live: Object, name: str) -> bool:
    return condition(live, name).get("status") == "True"


def waiting_container(status: Mapping[str, Any]) -> str:
    """Why a container does not run; empty for one that runs or has completed."""
    for state in ("waiting", "terminated"):
        details = (status.get("state") or {}).get(state) or {}
        if details.get("reason", "Completed") != "Completed":
            return f"{status['name']} {details['reason']} {details.get('message', '')}".strip()
    return ""


def waiting_containers(pod: Object) -> str:
    """Why the first container of a pod that does not run does not; empty where all run or have completed."""
    status = pod.get("status") or {}
    parts = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return next(filter(None, map(waiting_container, parts)), "")


def _workload_readiness(live: Object, updated: str, available: str) -> Readiness:
    status: Mapping[str, Any] = live.get("status") or {}
    if status.get("observedGeneration", 0) < live["metadata"].get("generation", 0):
        return Readiness("its controller has not observed its last change yet")
    desired = status.get("desiredNumberScheduled", 0) if "Scheduled" in updated else _replicas(live)
    for name in (updated, available):
        if status.get(name, 0) < desired:
            word = "up to date" if name == updated else "available"
            return Readiness(f"{status.get(name, 0)} of {desired} pods {word}")
    return Readiness()


def _replicas(live: Object) -> int:
    replicas = (live.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)


def _job_readiness(live: Object) -> Readiness:
    failed = condition(live, "Failed")
    if failed.get("status") == "True":
        return Readiness(f"it failed: {failed.get('message') or failed.get('reason')}", failed=True)
    return _condition_readiness(live, "Complete")


def _condition_readiness(live: Object, name: str) -> Readiness:
    return Readiness() if is_condition_true(live, name) else Readiness(f"it is not {name} yet")


def _is_problem(item: Mapping[str, Any]) -> bool:
    return (item.get("type"), item.get("status")) in (
        ("ReplicaFailure", "True"),
        ("Progressing", "False"),
        ("Available", "False"),
    )


def _pod_problem(pod: Object) -> str:
    """Why a pod is not Ready; empty for one that is Ready or has completed."""
    status = pod.get("status") or {}
    if is_condition_true(pod, "Ready") or status.get("phase") == "Succeeded":
        return ""
    waits = next((item for item in conditions(pod) if item.get("status") == "False" and item.get("message")), {})
    words = (waiting_containers(pod), waits.get("message"), status.get("message"), status.get("phase"))
    return f"Pod {pod['metadata']['name']}: {next(filter(None, words), 'no reason given')}"
