# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's way to a node: how an action plugin takes a snapshot and drives a transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...module_utils.snapshot.packing import NotPacked, unpack

SNAPSHOT_MODULE = "volcano.colocation.node_snapshot"
TRANSACTION_MODULE = "volcano.colocation.node_transaction"
POLL_SECONDS = 15
LOST_CONNECTION_RETRIES = 20


class NodeFailure(Exception):
    """A module on the node failed; ``result`` is what Ansible shall return."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        super().__init__(str(result.get("msg", "")))
        self.result = dict(result)


class ConnectionLost(Exception):
    """The node could not be reached; ``cause`` is the connection plugin's own error."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Executor(Protocol):
    """ActionBase._execute_module, bound to the task's variables."""

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]: ...


@dataclass
class Usage:
    """What a task cost, for the benchmark and for whoever wonders."""

    module_executions: int = 0
    polls: int = 0
    planning_seconds: float = 0.0
    program_seconds: float = 0.0

    def published(self) -> dict[str, Any]:
        return {
            "module_executions": self.module_executions,
            "polls": self.polls,
            "planning_ms": round(self.planning_seconds * 1000, 3),
            "program_seconds": round(self.program_seconds, 3),
        }


@dataclass
class Node:
    """One node during one task."""

    execute: Executor
    root: str = "/"
    named_cgroups: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    sleep: Callable[[float], None] = time.sleep

    def snapshot(self) -> dict[str, Any]:
        """Fresh evidence; NodeFailure when the module could not run."""
        self.usage.module_executions += 1
        arguments: dict[str, Any] = {"root": self.root}
        if self.named_cgroups:
            arguments["named_cgroups"] = list(self.named_cgroups)
        result = self.execute(SNAPSHOT_MODULE, arguments)
        if result.get("failed") or "snapshot" not in result:
            raise NodeFailure(result)
        try:
            snapshot: dict[str, Any] = unpack(result["snapshot"])
        except NotPacked as error:
            raise NodeFailure({"failed": True, "msg": str(error)}) from error
        self.usage.program_seconds += sum(
            snapshot[section].get("program_seconds", 0.0) for section in ("kubelet", "runtime")
        )
        return snapshot

    def transact(self, document: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
        """Carry a transaction document out and wait for its end. The node works on when the connection is cut."""
        self.usage.module_executions += 1
        where = {"id": document["id"], "root": self.root, "wait": POLL_SECONDS}
        state = self._answer(
            self.execute(TRANSACTION_MODULE, {**where, "action": "start", "plan": json.dumps(document)})
        )
        while state["state"] == "applying":
            progress(state)
            state = self._poll(where)
        progress(state)
        return state

    def recover(self) -> None:
        """Undo what a cut-off transaction left; NodeFailure when somebody is at work, or it cannot be undone."""
        self.usage.module_executions += 1
        state = self._answer(self.execute(TRANSACTION_MODULE, {"action": "recover", "root": self.root}))
        if state["state"] not in ("rolled-back", "none"):
            raise NodeFailure({"failed": True, "msg": f"Transaction {state.get('id')} could not be undone.", **state})

    def _poll(self, where: Mapping[str, Any]) -> dict[str, Any]:
        """The state after a while; a node that cannot be reached for some minutes is given up on."""
        for remaining in reversed(range(LOST_CONNECTION_RETRIES)):
            self.usage.polls += 1
            try:
                return self._answer(self.execute(TRANSACTION_MODULE, {**where, "action": "wait"}))
            except ConnectionLost:
                if not remaining:
                    raise
                self.sleep(POLL_SECONDS)
        raise AssertionError("unreachable: the last attempt returns or raises")

    @staticmethod
    def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
        if "transaction" not in result:
            raise NodeFailure(result)
        answer: dict[str, Any] = result["transaction"]
        return answer
