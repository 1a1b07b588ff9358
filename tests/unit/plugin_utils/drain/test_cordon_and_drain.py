# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Node is drained or uncordoned, with real requests to a small server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.cordon_and_drain import (
    CORDON_ANNOTATION,
    DrainResult,
    drain_node,
    is_cordoned,
    preview_drain,
    uncordon_node,
    wait_for_node,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.evictable_pods import EvictionRules
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.eviction_api import DrainCluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.wait import WaitOptions
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import (
    ApiServer,
    budget,
    node_object,
    pod,
    reached,
    serving,
)


class Time:
    """A clock that is advanced by sleeping, and runs actions when they are due."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.due: dict[float, Callable[[], Any]] = {}
        self.messages: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        for at in [at for at in self.due if at <= self.seconds]:
            self.due.pop(at)()

    def options(self, timeout: float) -> WaitOptions:
        return WaitOptions(timeout, self.sleep, self.messages.append, lambda: self.seconds)


@pytest.fixture(name="passing")
def _passing() -> Time:
    return Time()


@pytest.fixture(name="reach")
def _reach(tmp_path: Path) -> Iterator[Any]:
    with ExitStack() as stack:
        yield lambda server, **rules: reached(stack.enter_context(serving(server, tmp_path)), EvictionRules(**rules))


def drained(api: DrainCluster, passing: Time, timeout: float = 60) -> DrainResult:
    return drain_node(api, "n1", passing.options(timeout), lambda: "2026-01-01T00:00:00Z")


def test_a_node_is_cordoned_and_its_pods_leave(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("b"), pod("d", "DaemonSet")], lingers=2)
    result = drained(reach(server), passing)
    assert (result.reason, result.cordoned, result.evicted) == ("", True, ("default/a", "default/b"))
    assert [live_pod["metadata"]["name"] for live_pod in server.pods] == ["d"]
    assert server.log[0] == "PATCH /api/v1/nodes/n1"
    assert is_cordoned(server.node)
    assert server.node["metadata"]["annotations"] == {CORDON_ANNOTATION: "2026-01-01T00:00:00Z"}
    assert passing.messages == ["2 pod(s) remaining: default/a: has not ended yet; default/b: has not ended yet"] * 3


def test_a_node_that_the_rollout_cordoned_is_uncordoned(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")])
    api = reach(server)
    drained(api, passing)
    assert uncordon_node(api, "n1")
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert not uncordon_node(api, "n1")


def test_a_node_that_another_client_cordoned_stays_cordoned(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], node=node_object(cordoned=True))
    api = reach(server)
    result = drained(api, passing)
    assert (result.reason, result.cordoned, result.evicted) == ("", False, ("default/a",))
    assert not uncordon_node(api, "n1")
    assert is_cordoned(server.node)
    assert not any("PATCH" in request for request in server.log)


def test_a_node_that_a_killed_run_cordoned_is_uncordoned(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], node=node_object({CORDON_ANNOTATION: "earlier"}, cordoned=True))
    api = reach(server)
    assert drained(api, passing).cordoned
    assert uncordon_node(api, "n1")
    assert not is_cordoned(server.node)


def test_an_eviction_is_repeated_until_the_budget_allows_it(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("b")], [budget(allowed=0)], allowed=1)
    passing.due[20.0] = lambda: setattr(server, "allowed", 1)
    result = drained(reach(server), passing)
    assert (result.reason, result.evicted) == ("", ("default/a", "default/b"))
    assert "default/b: Cannot evict pod as it would violate" in passing.messages[0]
    assert passing.messages[0].endswith("(PodDisruptionBudget web)")
    assert passing.seconds >= 20


def test_a_budget_that_never_allows_the_eviction_restores_the_node(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], [budget(allowed=0)], allowed=0)
    result = drained(reach(server), passing, timeout=30)
    assert result.reason.startswith("default/a: Cannot evict pod")
    assert (result.cordoned, result.evicted) == (False, ())
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert 30 <= passing.seconds <= 35
    assert [live_pod["metadata"]["name"] for live_pod in server.pods] == ["a"]


def test_a_pod_that_does_not_end_ends_the_drain(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], lingers=1000)
    result = drained(reach(server), passing, timeout=10)
    assert result.reason == "default/a: has not ended yet"
    assert result.evicted == ("default/a",)
    assert not is_cordoned(server.node)


def test_a_pod_that_may_not_be_evicted_is_reported_before_any_change(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("b", "")])
    result = drained(reach(server), passing)
    assert result.reason.startswith("default/b: no controller would re-create it")
    assert server.log == []
    assert drained(reach(server, bare_pods=True), passing).reason == ""


def test_a_new_pod_that_may_not_be_evicted_ends_the_drain(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], lingers=3)
    passing.due[5.0] = lambda: server.pods.append(pod("b", ""))
    result = drained(reach(server), passing)
    assert "default/b" in result.reason
    assert not is_cordoned(server.node)


def test_a_failed_request_is_named_and_the_node_uncordoned(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], refuses={"/eviction": 500})
    result = drained(reach(server), passing)
    assert "500, no, 500" in result.reason
    assert not is_cordoned(server.node)


def test_an_update_by_kubelet_is_not_a_conflict(reach: Any, passing: Time) -> None:
    server = ApiServer([], conflicts=3)
    assert drained(reach(server), passing).cordoned
    server.conflicts = 99
    with pytest.raises(ClusterError, match="could not be changed: other clients changed it"):
        uncordon_node(reach(server), "n1")


@pytest.mark.parametrize("status", [404, 409])
def test_a_pod_that_was_deleted_or_replaced_is_not_an_error(reach: Any, passing: Time, status: int) -> None:
    server = ApiServer([pod("a")], refuses={"/eviction": status})

    def delete_pods() -> None:
        server.pods = []

    passing.due[5.0] = delete_pods
    result = drained(reach(server), passing)
    assert (result.reason, result.evicted) == ("", ())


def test_the_preview_is_the_result_of_the_drain(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("d", "DaemonSet")])
    api = reach(server)
    before = preview_drain(api.node("n1"), api.pods("n1"))
    assert server.log == []
    assert before == drained(api, passing)


def test_waiting_ends_when_the_node_is_ready(reach: Any, passing: Time) -> None:
    server = ApiServer(node=node_object(ready=False))
    api = reach(server)
    assert not wait_for_node(api, "n1", passing.options(20))
    passing.due[passing.seconds + 10] = lambda: setattr(server, "node", node_object())
    assert wait_for_node(api, "n1", passing.options(20))
    assert set(passing.messages) == {"its Node is not Ready yet"}
