# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for the deletion and readiness of objects, and the reasons why they are not ready."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import (
    ApiError,
    ClusterError,
    ErrorContext,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.wait import (
    Readiness,
    WaitOptions,
    delete_and_wait,
    observe,
    pod_problems,
    pod_selector,
    readiness,
    wait_until_ready,
)
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server


def ref(kind: str, api: str = "apps/v1") -> Ref:
    return Ref(api, kind, "a", "b")


def workload(replicas: int | None = None, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"generation": 2},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 2, **status},
    }


def conditions(*statuses: tuple[str, str]) -> dict[str, Any]:
    items = [{"type": name, "status": status, "reason": "R", "message": "m"} for name, status in statuses]
    return {"metadata": {}, "status": {"conditions": items}}


STATES: dict[str, tuple[Ref, Any, Readiness]] = {
    "gone": (ref("Deployment"), None, Readiness("it does not exist")),
    "unobserved": (
        ref("Deployment"),
        {"metadata": {"generation": 1}},
        Readiness("its controller has not observed its last change yet"),
    ),
    "old pods": (ref("Deployment"), workload(), Readiness("0 of 1 pods up to date")),
    "no pods": (ref("Deployment"), workload(updatedReplicas=1), Readiness("0 of 1 pods available")),
    "runs": (ref("Deployment"), workload(2, updatedReplicas=2, availableReplicas=2), Readiness()),
    "no replicas": (ref("Deployment"), workload(0), Readiness()),
    "set": (ref("StatefulSet"), workload(1, updatedReplicas=1), Readiness("0 of 1 pods available")),
    "no node": (ref("DaemonSet"), workload(), Readiness()),
    "nodes": (ref("DaemonSet"), workload(desiredNumberScheduled=2), Readiness("0 of 2 pods up to date")),
    "job": (ref("Job", "batch/v1"), conditions(("Complete", "True")), Readiness()),
    "working": (ref("Job", "batch/v1"), {"metadata": {}}, Readiness("it is not Complete yet")),
    "failed": (ref("Job", "batch/v1"), conditions(("Failed", "True")), Readiness("it failed: m", failed=True)),
    "crd": (
        ref("CustomResourceDefinition", "x/v1"),
        conditions(("Established", "False")),
        Readiness("it is not Established yet"),
    ),
    "other kinds": (ref("CronJob", "batch/v1"), {"metadata": {}}, Readiness()),
}


@pytest.mark.parametrize("name", STATES)
def test_the_readiness_of_an_object(name: str) -> None:
    where, live, expected = STATES[name]
    assert readiness(where, live) == expected


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
    status, problems = PODS[name]
    assert pod_problems({"metadata": {}}, [status]) == problems


def test_a_workload_without_pods_has_its_own_reason() -> None:
    live = conditions(("ReplicaFailure", "True"), ("Available", "True"), ("Progressing", "False"))
    assert pod_problems(live, []) == ("R: m", "R: m")


def test_pods_are_found_by_the_labels_of_their_workload() -> None:
    labels = {"matchLabels": {"app": "x", "tier": "y"}}
    assert pod_selector(ref("Deployment"), {"spec": {"selector": labels}}) == "app=x,tier=y"
    assert pod_selector(ref("Deployment"), {}) == ""
    assert pod_selector(ref("Job", "batch/v1"), {}) == "job-name=a"


DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}}
RUNS = {"status": {"updatedReplicas": 1, "availableReplicas": 1}}


def test_an_object_that_is_not_ready_is_awaited_and_shown_once() -> None:
    server, messages = Server(), list[str]()
    server.add(DEPLOYMENT)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            server.add({**DEPLOYMENT, **RUNS})

    wait_until_ready(server.client(), [ref("Deployment")], WaitOptions(60, sleep, messages.append), "Look.")
    assert messages == ["waiting for Deployment b/a: 0 of 1 pods up to date"]
    assert len(slept) == 3


@pytest.mark.parametrize("kind", ["Deployment", "CustomResourceDefinition"])
def test_an_object_that_is_not_ready_in_time_is_named(kind: str) -> None:
    server = Server()
    api = "apps/v1" if kind == "Deployment" else "apiextensions.k8s.io/v1"
    labels = {"selector": {"matchLabels": {"app": "x"}}}
    server.add({**DEPLOYMENT, "apiVersion": api, "kind": kind, "spec": labels})
    metadata = {"name": "p", "namespace": "b", "labels": {"app": "x"}}
    server.add({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": "Pending"}})
    with pytest.raises(ClusterError) as failed:
        wait_until_ready(server.client(), [ref(kind, api)], WaitOptions(0), "Look.")
    reason = "it is not Established yet" if kind != "Deployment" else "0 of 1 pods up to date (Pod p: Pending)"
    assert str(failed.value) == f"Installed objects are not ready: {kind} b/a: {reason}. Look."


def test_a_job_that_failed_is_not_waited_for() -> None:
    server = Server(apis=("batch/v1",))
    job = {**DEPLOYMENT, "apiVersion": "batch/v1", "kind": "Job", **conditions(("Failed", "True"))}
    server.add({**job, "metadata": DEPLOYMENT["metadata"]})
    with pytest.raises(ClusterError, match="it failed: m"):
        wait_until_ready(server.client(), [ref("Job", "batch/v1")], WaitOptions(600), "Look.")


class Lingering(Server):
    """An object with a finalizer."""

    def write(self, verb: str, definition: dict[str, Any], *, dry: bool) -> dict[str, Any]:
        return {} if verb == "delete" else super().write(verb, definition, dry=dry)


def test_a_deletion_is_awaited_and_named_if_the_object_stays() -> None:
    server = Lingering()
    server.add(DEPLOYMENT)

    def sleep(_seconds: float) -> None:
        server.objects.clear()

    delete_and_wait(server.client(dry_run=True), ref("Deployment"), WaitOptions(6))
    delete_and_wait(server.client(), ref("Deployment"), WaitOptions(6, sleep))
    server.add(DEPLOYMENT)
    passed = [0.0]
    options = WaitOptions(6, passed.append, now=lambda: sum(passed))
    with pytest.raises(ClusterError, match="Deployment b/a still exists 6 s after it was deleted"):
        delete_and_wait(server.client(), ref("Deployment"), options)
    assert passed == [0.0, 2.0, 2.0, 2.0]


class Observed:
    """States that are seen one after the other, an exception in place of one; the last one stays."""

    def __init__(self, *states: str | ApiError) -> None:
        self.states = list(states)
        self.seconds = 0.0
        self.shown: list[str] = []

    def look(self) -> str:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, ApiError):
            raise state
        return state

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def until(self, timeout: float) -> str:
        options = WaitOptions(timeout, self.sleep, self.shown.append, lambda: self.seconds)
        return observe(self.look, lambda state: state, options)


def api_error(status: int) -> ApiError:
    return ApiError("list nodes", status, "no leader", ErrorContext("k", "p"))


def test_a_state_is_observed_until_nothing_is_missing() -> None:
    observed = Observed("one pod", "one pod", "")
    assert observed.until(60) == ""
    assert observed.seconds == 10
    assert observed.shown == ["waiting: one pod"] * 2


def test_without_a_timeout_it_is_observed_once() -> None:
    observed = Observed("one pod", "")
    assert observed.until(0) == "one pod"
    assert observed.seconds == 0


def test_the_last_state_is_returned_at_the_timeout() -> None:
    observed = Observed("one", "two")
    assert observed.until(15) == "two"
    assert observed.seconds == 15


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_server_that_does_not_work_is_asked_again(status: int) -> None:
    observed = Observed(api_error(status), "")
    assert observed.until(60) == ""
    with pytest.raises(ApiError, match="list nodes"):
        Observed(api_error(status)).until(15)


def test_a_refused_request_is_not_repeated() -> None:
    observed = Observed(api_error(403), "")
    with pytest.raises(ApiError):
        observed.until(60)
    assert observed.seconds == 0
