# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transport to a node: its requests, its usage counts and the errors for failures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import SIZE_LIMIT, pack
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import SnapshotError
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.transport import (
    LOST_CONNECTION_RETRIES,
    POLL_SECONDS,
    SNAPSHOT_MODULE,
    TRANSACTION_MODULE,
    ConnectionLost,
    Node,
    NodeFailure,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, captured, put

PLAN = {"id": "20261121T013455-1a2b3c4d", "schema": 1}
SNAPSHOT = put(put(captured(ALIGNED), 1.5, "kubelet", "program_seconds"), 0.25, "runtime", "program_seconds")
CONNECTION_LOST = ConnectionLost(OSError("No route to host"))


class Script:
    """An executor that returns responses from a list and records its requests."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((name, arguments))
        result = self._answers.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def state(word: str) -> dict[str, Any]:
    return {"transaction": {"state": word, "id": PLAN["id"]}}


def driven(script: Script) -> tuple[Node, list[float]]:
    slept: list[float] = []
    return Node(script, "/srv/image", sleep=slept.append), slept


def test_cgroups_of_the_profile_are_asked_for() -> None:
    script = Script({"snapshot": pack(SNAPSHOT)})
    assert Node(script, "/", ("/system.slice", "a-b")).snapshot() == SNAPSHOT
    assert script.asked == [(SNAPSHOT_MODULE, {"root": "/", "named_cgroups": ["/system.slice", "a-b"]})]


def test_a_snapshot_is_one_execution() -> None:
    script = Script({"snapshot": pack(SNAPSHOT)})
    node = Node(script, "/srv/image")
    assert node.snapshot() == SNAPSHOT
    assert script.asked == [(SNAPSHOT_MODULE, {"root": "/srv/image"})]
    assert node.usage.to_result() == {
        "module_executions": 1,
        "polls": 0,
        "planning_ms": 0.0,
        "program_seconds": 1.75,
    }


@pytest.mark.parametrize(
    "result", [{"failed": True, "msg": "no python"}, {"snapshot": pack(SNAPSHOT), "failed": True}, {}]
)
def test_a_snapshot_that_fails_keeps_the_modules_own_result(result: dict[str, Any]) -> None:
    with pytest.raises(NodeFailure) as raised:
        Node(Script(result)).snapshot()
    assert raised.value.result == result


@pytest.mark.parametrize("damage", [lambda text: text[:-8], lambda text: "{" + text, lambda text: "aGVsbG8="])
def test_a_snapshot_that_was_cut_on_its_way_is_a_failure(damage: Callable[[str], str]) -> None:
    with pytest.raises(NodeFailure, match="did not arrive whole"):
        Node(Script({"snapshot": damage(pack(SNAPSHOT))})).snapshot()


@pytest.mark.parametrize("packed", [7, None, [1], {"kubelet": {}}, "", "x"])
def test_what_is_not_a_packed_snapshot_is_a_failure_that_names_the_node(packed: Any) -> None:
    with pytest.raises(NodeFailure, match=r"^n1: the node's snapshot "):
        Node(Script({"snapshot": packed}), name="n1").snapshot()


def test_a_snapshot_that_would_exhaust_the_controller_is_refused_with_limit_and_remedy() -> None:
    with pytest.raises(NodeFailure) as raised:
        Node(Script({"snapshot": pack({"x": " " * SIZE_LIMIT})}), name="n1").snapshot()
    message = raised.value.result["msg"]
    assert message.startswith(f"n1: the node's snapshot has more than {SIZE_LIMIT} bytes")
    assert "Look on the node" in message


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (7, "not a snapshot document"),
        ([], "not a snapshot document"),
        (None, "not a snapshot document"),
        ("text", "not a snapshot document"),
        ({}, "snapshot schema None"),
        ({"schema": 2}, "snapshot schema 2"),
        ({"schema": 1, "kubelet": []}, "incomplete snapshot, missing sections: system"),
        (put(captured(ALIGNED), [], "kubelet", "files"), "kubelet.files is a list, not a mapping"),
        (
            put(captured(ALIGNED), "x", "kubelet", "program_seconds"),
            "kubelet.program_seconds is a string, not a number",
        ),
    ],
)
def test_a_live_snapshot_is_checked_as_a_recorded_one(document: Any, message: str) -> None:
    with pytest.raises(SnapshotError, match=f"^n1: {re.escape(message)}"):
        Node(Script({"snapshot": pack(document)}), name="n1").snapshot()


@pytest.mark.parametrize(
    "result",
    [
        7,
        [],
        "committed",
        None,
        {},
        {"state": 3, "id": "x"},
        {"state": "committed"},
        {"state": "applying", "id": "x", "steps": [7]},
        {"state": "applying", "id": "x", "gate": {"check": 1}},
        {"state": "applying", "id": "x", "limit": "long"},
        {"state": "rolled-back", "id": "x", "error": "none"},
        {"state": "committed", "id": "x", "recovered": {"at_boot": True}},
    ],
)
def test_a_transactions_answer_of_another_shape_is_a_failure(result: Any) -> None:
    with pytest.raises(NodeFailure, match=r"^n1: the node's response about a transaction cannot be read: .+\. See "):
        Node(Script({"transaction": result}), name="n1").transact(PLAN, unseen)


def test_a_transaction_that_ends_at_once() -> None:
    script = Script(state("committed"))
    node, slept = driven(script)
    states: list[str] = []
    assert node.transact(PLAN, lambda transaction: states.append(transaction["state"]))["state"] == "committed"
    ((name, arguments),) = script.asked
    assert name == TRANSACTION_MODULE
    assert json.loads(arguments.pop("plan")) == PLAN
    assert arguments == {"action": "start", "id": PLAN["id"], "root": "/srv/image", "wait": POLL_SECONDS}
    assert (node.usage.module_executions, node.usage.polls, slept, states) == (1, 0, [], ["committed"])


def test_polls_are_counted_apart_and_do_not_carry_the_plan() -> None:
    script = Script(state("applying"), state("applying"), state("rolled-back"))
    node, slept = driven(script)
    states: list[str] = []
    assert node.transact(PLAN, lambda transaction: states.append(transaction["state"]))["state"] == "rolled-back"
    assert [arguments["action"] for _name, arguments in script.asked] == ["start", "wait", "wait"]
    assert all("plan" not in arguments for _name, arguments in script.asked[1:])
    assert (node.usage.module_executions, node.usage.polls, slept) == (1, 2, [])
    assert states == ["applying", "applying", "rolled-back"]


class Endless(Script):
    """A transaction that does not end; each poll takes time."""

    def __init__(self, **more: Any) -> None:
        super().__init__()
        self.time = 0.0
        self._answer = {"transaction": {"state": "applying", "id": PLAN["id"], "step": "start kubelet", **more}}

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.time += POLL_SECONDS
        assert self.time < 10000, "it waits without end"
        return self._answer


@pytest.mark.parametrize(("timeout", "limit"), [(None, 1800 + 900), (300, 3 * 300 + 1800 + 900)])
def test_an_engine_that_systemd_must_have_ended_is_not_waited_for(timeout: int | None, limit: int) -> None:
    script = Endless()
    node = Node(script, now=lambda: script.time)
    document = {**PLAN, "gate": timeout and {"timeout": timeout}}
    with pytest.raises(NodeFailure) as raised:
        node.transact(document, lambda _transaction: None)
    message = str(raised.value)
    assert "is still running on the node, in step 'start kubelet'" in message
    assert f"--unit volcano-colocation-{PLAN['id']}.service there; run this again" in message
    assert limit <= script.time - POLL_SECONDS <= limit + 60 + POLL_SECONDS
    assert raised.value.result["transaction"]["state"] == "applying"


def test_nor_is_one_that_goes_on() -> None:
    script = Endless(limit=2880.0)
    node = Node(script, now=lambda: script.time)
    with pytest.raises(NodeFailure, match="is still running on the node"):
        node.recover("finish", lambda _transaction: None)
    assert 2880.0 <= script.time - POLL_SECONDS <= 2880.0 + 60 + POLL_SECONDS


def test_a_lost_connection_is_waited_out() -> None:
    script = Script(state("applying"), CONNECTION_LOST, CONNECTION_LOST, state("committed"))
    node, slept = driven(script)
    assert node.transact(PLAN, lambda _transaction: None)["state"] == "committed"
    assert slept == [POLL_SECONDS, POLL_SECONDS]
    assert node.usage.polls == 3


def test_a_node_that_stays_away_is_given_up_on() -> None:
    script = Script(state("applying"), *[CONNECTION_LOST] * LOST_CONNECTION_RETRIES)
    node, slept = driven(script)
    with pytest.raises(ConnectionLost, match="No route to host") as raised:
        node.transact(PLAN, lambda _transaction: None)
    assert raised.value.cause is CONNECTION_LOST.cause
    assert len(slept) == LOST_CONNECTION_RETRIES - 1


def test_an_answer_that_is_lost_at_the_start_is_asked_for_again() -> None:
    script = Script(CONNECTION_LOST, CONNECTION_LOST, state("applying"), state("rolled-back"))
    node, slept = driven(script)
    states: list[str] = []
    assert node.transact(PLAN, lambda transaction: states.append(transaction["state"]))["state"] == "rolled-back"
    assert [arguments["action"] for _name, arguments in script.asked] == ["start", "wait", "wait", "wait"]
    assert (states, slept) == (["contact lost", "applying", "rolled-back"], [POLL_SECONDS])


def test_a_connection_that_is_lost_before_the_start_is_reported() -> None:
    node, _slept = driven(Script(CONNECTION_LOST, {"failed": True, "msg": "there is no transaction", "begun": False}))
    with pytest.raises(ConnectionLost, match="No route to host"):
        node.transact(PLAN, lambda _transaction: None)


def test_another_failure_after_a_loss_is_reported() -> None:
    node, _slept = driven(Script(CONNECTION_LOST, {"failed": True, "msg": "the engine ended without a result"}))
    with pytest.raises(NodeFailure, match="the engine ended without a result"):
        node.transact(PLAN, lambda _transaction: None)


@pytest.mark.parametrize("before", [[], [state("applying")]])
def test_a_module_that_fails_ends_the_transaction(before: list[dict[str, Any]]) -> None:
    failure = {"failed": True, "msg": "the plan is not valid"}
    node, _slept = driven(Script(*before, failure))
    with pytest.raises(NodeFailure, match="the plan is not valid") as raised:
        node.transact(PLAN, lambda _transaction: None)
    assert raised.value.result == failure


def unseen(_transaction: Mapping[str, Any]) -> None:
    raise AssertionError("there is no progress to be shown")


@pytest.mark.parametrize(
    ("word", "result"), [("rolled-back", {"id": PLAN["id"], "state": "rolled-back"}), ("none", None)]
)
def test_an_interrupted_transaction_is_rolled_back_in_one_execution(word: str, result: dict[str, Any] | None) -> None:
    script = Script(state(word))
    node = Node(script)
    assert node.recover("undo", unseen) == result
    desired = {"action": "recover", "recover": "undo", "root": "/", "wait": POLL_SECONDS}
    assert script.asked == [(TRANSACTION_MODULE, desired)]
    assert node.usage.module_executions == 1


def test_what_goes_on_is_waited_for() -> None:
    script = Script(state("applying"), CONNECTION_LOST, state("committed"))
    node, slept = driven(script)
    states: list[str] = []
    recovered = node.recover("finish", lambda transaction: states.append(transaction["state"]))
    assert recovered == {"id": PLAN["id"], "state": "committed"}
    assert (states, slept) == (["applying"], [POLL_SECONDS])
    assert script.asked[-1][1] == {
        "action": "wait",
        "id": PLAN["id"],
        "root": "/srv/image",
        "wait": POLL_SECONDS,
    }


def test_an_undo_whose_answer_is_lost_is_asked_for_again() -> None:
    script = Script(CONNECTION_LOST, CONNECTION_LOST, state("applying"), state("rolled-back"))
    node, slept = driven(script)
    states: list[str] = []
    recovered = node.recover("undo", lambda transaction: states.append(transaction["state"]), [str(PLAN["id"])])
    assert recovered == {"id": PLAN["id"], "state": "rolled-back"}
    assert [arguments["action"] for _name, arguments in script.asked] == ["recover", "recover", "recover", "wait"]
    assert (states, slept) == (["contact lost", "applying"], [POLL_SECONDS])
    assert (node.usage.module_executions, node.usage.polls) == (1, 3)


def test_a_rollback_that_ended_during_a_lost_connection_is_reported() -> None:
    script = Script(CONNECTION_LOST, state("none"), state("rolled-back"))
    node, _slept = driven(script)
    states: list[str] = []
    recovered = node.recover("undo", lambda transaction: states.append(transaction["state"]), [str(PLAN["id"])])
    assert recovered == {"id": PLAN["id"], "state": "rolled-back"}
    assert script.asked[-1][1]["action"] == "wait"
    assert script.asked[-1][1]["id"] == PLAN["id"]


def test_a_node_that_had_nothing_open_has_nothing_to_tell_after_a_loss() -> None:
    node, _slept = driven(Script(CONNECTION_LOST, state("none")))
    assert node.recover("undo", lambda _transaction: None) is None


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (state("rollback-failed"), f"{PLAN['id']} could not be rolled back"),
        ({"failed": True, "msg": "locked"}, "locked"),
    ],
)
def test_a_failed_rollback_is_reported(result: dict[str, Any], words: str) -> None:
    with pytest.raises(NodeFailure, match=words) as raised:
        Node(Script(result)).recover("undo", unseen)
    assert raised.value.result["failed"] is True
