# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Node is drained, given up or opened again, by real requests to a small server."""

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
    """A clock that is asked and put forward, and does things at a time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.due: dict[float, Callable[[], Any]] = {}
        self.told: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        for at in [at for at in self.due if at <= self.seconds]:
            self.due.pop(at)()

    def options(self, timeout: float) -> WaitOptions:
        return WaitOptions(timeout, self.sleep, self.told.append, lambda: self.seconds)


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
    found = drained(reach(server), passing)
    assert (found.reason, found.cordoned, found.evicted) == ("", True, ("default/a", "default/b"))
    assert [each["metadata"]["name"] for each in server.pods] == ["d"]
    assert server.log[0] == "PATCH /api/v1/nodes/n1"
    assert is_cordoned(server.node)
    assert server.node["metadata"]["annotations"] == {CORDON_ANNOTATION: "2026-01-01T00:00:00Z"}
    assert passing.told == ["2 pod(s) remaining: default/a: has not ended yet; default/b: has not ended yet"] * 3


def test_what_we_closed_we_open(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")])
    api = reach(server)
    drained(api, passing)
    assert uncordon_node(api, "n1")
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert not uncordon_node(api, "n1")


def test_what_others_closed_stays_closed(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], node=node_object(cordoned=True))
    api = reach(server)
    found = drained(api, passing)
    assert (found.reason, found.cordoned, found.evicted) == ("", False, ("default/a",))
    assert not uncordon_node(api, "n1")
    assert is_cordoned(server.node)
    assert not any("PATCH" in each for each in server.log)


def test_a_node_that_a_killed_run_closed_is_ours(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], node=node_object({CORDON_ANNOTATION: "earlier"}, cordoned=True))
    api = reach(server)
    assert drained(api, passing).cordoned
    assert uncordon_node(api, "n1")
    assert not is_cordoned(server.node)


def test_a_budget_is_waited_for(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("b")], [budget(allowed=0)], allowed=1)
    passing.due[20.0] = lambda: setattr(server, "allowed", 1)
    found = drained(reach(server), passing)
    assert (found.reason, found.evicted) == ("", ("default/a", "default/b"))
    assert "default/b: Cannot evict pod as it would violate" in passing.told[0]
    assert passing.told[0].endswith("(PodDisruptionBudget web)")
    assert passing.seconds >= 20


def test_a_budget_that_never_allows_it_leaves_the_node_as_it_was(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], [budget(allowed=0)], allowed=0)
    found = drained(reach(server), passing, timeout=30)
    assert found.reason.startswith("default/a: Cannot evict pod")
    assert (found.cordoned, found.evicted) == (False, ())
    assert (server.node["spec"], server.node["metadata"]["annotations"]) == ({}, {})
    assert 30 <= passing.seconds <= 35
    assert [each["metadata"]["name"] for each in server.pods] == ["a"]


def test_a_pod_that_does_not_end_is_given_up_too(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], lingers=1000)
    found = drained(reach(server), passing, timeout=10)
    assert found.reason == "default/a: has not ended yet"
    assert found.evicted == ("default/a",)
    assert not is_cordoned(server.node)


def test_a_pod_that_may_not_go_is_seen_before_anything_is_done(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("b", "")])
    found = drained(reach(server), passing)
    assert found.reason.startswith("default/b: no controller would re-create it")
    assert server.log == []
    assert drained(reach(server, bare_pods=True), passing).reason == ""


def test_one_that_comes_meanwhile_ends_the_attempt(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], lingers=3)
    passing.due[5.0] = lambda: server.pods.append(pod("b", ""))
    found = drained(reach(server), passing)
    assert "default/b" in found.reason
    assert not is_cordoned(server.node)


def test_a_server_that_ends_in_the_middle_is_named_and_the_node_opened(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a")], refuses={"/eviction": 500})
    found = drained(reach(server), passing)
    assert "500, no, 500" in found.reason
    assert not is_cordoned(server.node)


def test_a_kubelet_that_reports_meanwhile_is_no_conflict(reach: Any, passing: Time) -> None:
    server = ApiServer([], conflicts=3)
    assert drained(reach(server), passing).cordoned
    server.conflicts = 99
    with pytest.raises(ClusterError, match="could not be changed: other clients changed it"):
        uncordon_node(reach(server), "n1")


@pytest.mark.parametrize("status", [404, 409])
def test_a_pod_that_has_gone_or_is_another_one_by_now_is_no_trouble(reach: Any, passing: Time, status: int) -> None:
    server = ApiServer([pod("a")], refuses={"/eviction": status})

    def gone() -> None:
        server.pods = []

    passing.due[5.0] = gone
    found = drained(reach(server), passing)
    assert (found.reason, found.evicted) == ("", ())


def test_the_outlook_is_what_the_drain_does(reach: Any, passing: Time) -> None:
    server = ApiServer([pod("a"), pod("d", "DaemonSet")])
    api = reach(server)
    before = preview_drain(api.node("n1"), api.pods("n1"))
    assert server.log == []
    assert before == drained(api, passing)


def test_a_node_is_waited_for_until_it_is_ready(reach: Any, passing: Time) -> None:
    server = ApiServer(node=node_object(ready=False))
    api = reach(server)
    assert not wait_for_node(api, "n1", passing.options(20))
    passing.due[passing.seconds + 10] = lambda: setattr(server, "node", node_object())
    assert wait_for_node(api, "n1", passing.options(20))
    assert set(passing.told) == {"its Node is not Ready yet"}
