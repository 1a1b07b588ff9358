# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access of the controller to a node: take snapshots, start transactions and wait for them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...module_utils.snapshot.packing import NotUnpacked, unpack
from ...module_utils.transaction.context import life_time
from .evidence_schema import checked_snapshot, transaction_defect

SNAPSHOT_MODULE = "volcano.colocation.node_snapshot"
TRANSACTION_MODULE = "volcano.colocation.node_transaction"
LEDGER_MODULE = "volcano.colocation.node_ledger"
POLL_SECONDS = 15
LOST_CONNECTION_RETRIES = 20
TRANSACTION_GRACE = 60.0
"""Seconds to wait after the time limit at which systemd kills a hanging engine."""
SEE_LOG = "See journalctl -t volcano-colocation on the node, then run this again"
SEE_RESULT = (
    "Its result.json below /var/lib/volcano-colocation/transactions on the node lists what must be done by hand"
)


class NodeFailure(Exception):
    """A module on the node failed; ``result`` is the result that Ansible returns."""

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
    """Cost of a task, for the benchmark and for users."""

    module_executions: int = 0
    polls: int = 0
    planning_seconds: float = 0.0
    program_seconds: float = 0.0

    def to_result(self) -> dict[str, Any]:
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
    kubeadm_patches: str | None = None
    name: str = "node"
    usage: Usage = field(default_factory=Usage)
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    def snapshot(self) -> dict[str, Any]:
        """A new snapshot; NodeFailure if the module could not run, SnapshotError if its document is invalid."""
        self.usage.module_executions += 1
        arguments: dict[str, Any] = {"root": self.root}
        if self.named_cgroups:
            arguments["named_cgroups"] = list(self.named_cgroups)
        if self.kubeadm_patches:
            arguments["kubeadm_patches"] = self.kubeadm_patches
        snapshot = checked_snapshot(self._unpacked(SNAPSHOT_MODULE, arguments, "snapshot"), self.name)
        for section in ("kubelet", "runtime"):
            self.usage.program_seconds += snapshot[section].get("program_seconds", 0.0)
        return snapshot

    def ledger(self) -> Any:
        """Evidence of what can be restored, unredacted; NodeFailure if the module could not run."""
        self.usage.module_executions += 1
        return self._unpacked(LEDGER_MODULE, {"action": "show", "root": self.root}, "evidence")

    def restore_sections(self, sections: Sequence[str], *, clean: bool) -> dict[str, Any]:
        """Restore these sections on the node; ``clean``: then remove the collection's files there."""
        self.usage.module_executions += 1
        arguments = {"action": "restore", "sections": list(sections), "clean": clean, "root": self.root}
        result = self.execute(LEDGER_MODULE, arguments)
        if result.get("failed") or "removed" not in result:
            raise NodeFailure(result)
        return result

    def transact(self, document: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
        """Apply a transaction document and wait for its end. The node continues if the connection is lost."""
        self.usage.module_executions += 1
        where = {"id": document["id"], "root": self.root, "wait": POLL_SECONDS}
        try:
            state = self._transaction_state(
                self.execute(TRANSACTION_MODULE, {**where, "action": "start", "plan": json.dumps(document)})
            )
        except ConnectionLost as lost:
            progress({"state": "contact lost", "step": "check whether the transaction began"})
            state = self._started_state(where, lost)
        limit = life_time((document.get("gate") or {}).get("timeout", 0.0))
        state = self._wait_for_end(where, state, limit, progress)
        progress(state)
        return state

    def check(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The initial checks of this document's transaction: state ``refused`` with the reason, or ``none``."""
        self.usage.module_executions += 1
        arguments = {"action": "check", "id": document["id"], "root": self.root, "plan": json.dumps(document)}
        return self._transaction_state(self.execute(TRANSACTION_MODULE, arguments))

    def recover(
        self, way: str, progress: Callable[[Mapping[str, Any]], None], known: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Recover an interrupted transaction as ``way`` says (``RECOVER``); its ID and end state, None without one.

        ``known``: IDs of the open transactions in the snapshot, newest first. The node continues if the connection is
        lost. NodeFailure if another transaction is running, if ``way`` forbids recovery, or if recovery fails.
        """
        self.usage.module_executions += 1
        where = {"root": self.root, "wait": POLL_SECONDS}
        state = self._recovery_state(where, {**where, "action": "recover", "recover": way}, known, progress)
        if state["state"] == "applying":
            limit = state.get("limit", life_time(0.0))
            state = self._wait_for_end({**where, "id": state["id"]}, state, limit, progress)
        if state["state"] == "none":
            return None
        if state["state"] not in ("rolled-back", "committed"):
            node = (state.get("error") or {}).get("node") or SEE_RESULT
            message = f"Transaction {state.get('id')} could not be rolled back. {node}".rstrip()
            raise NodeFailure({"failed": True, "msg": message, "transaction": state})
        return {"id": state["id"], "state": state["state"]}

    def _recovery_state(
        self,
        where: Mapping[str, Any],
        request: Mapping[str, Any],
        known: Sequence[str],
        progress: Callable[[Mapping[str, Any]], None],
    ) -> dict[str, Any]:
        """The state of the recovery. A request without response is repeated: it waits for the recovery it began."""
        try:
            return self._transaction_state(self.execute(TRANSACTION_MODULE, dict(request)))
        except ConnectionLost:
            progress({"state": "contact lost", "step": "check the state of the earlier transaction"})
        state = self._poll(request)
        if state["state"] == "none" and known:
            # It ended while the connection was lost.
            return self._poll({**where, "action": "wait", "id": known[0]})
        return state

    def _started_state(self, where: Mapping[str, Any], loss: ConnectionLost) -> dict[str, Any]:
        """The state of a transaction whose start got no response; raises ``loss`` if it was not started."""
        try:
            return self._poll({**where, "action": "wait"})
        except NodeFailure as failure:
            if failure.result.get("begun") is False:
                raise loss from None
            raise

    def _wait_for_end(
        self,
        where: Mapping[str, Any],
        state: dict[str, Any],
        limit: float,
        progress: Callable[[Mapping[str, Any]], None],
    ) -> dict[str, Any]:
        """The result of a running transaction; NodeFailure if it does not end within ``limit`` seconds."""
        deadline = self.now() + limit + TRANSACTION_GRACE
        while state["state"] == "applying":
            if self.now() >= deadline:
                raise NodeFailure(
                    {"failed": True, "msg": _still_running(state, limit + TRANSACTION_GRACE), "transaction": state}
                )
            progress(state)
            state = self._poll({**where, "action": "wait"})
        return state

    def _poll(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The state after a poll; ConnectionLost if the node cannot be reached for several minutes."""
        for remaining in reversed(range(LOST_CONNECTION_RETRIES)):
            self.usage.polls += 1
            try:
                return self._transaction_state(self.execute(TRANSACTION_MODULE, dict(request)))
            except ConnectionLost:
                if not remaining:
                    raise
                self.sleep(POLL_SECONDS)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _transaction_state(self, result: Mapping[str, Any]) -> dict[str, Any]:
        if "transaction" not in result:
            raise NodeFailure(result)
        defect = transaction_defect(result["transaction"])
        if defect:
            message = f"{self.name}: the node's response about a transaction cannot be read: {defect}. {SEE_LOG}"
            raise NodeFailure({"failed": True, "msg": message})
        transaction: dict[str, Any] = result["transaction"]
        return transaction

    def _unpacked(self, module: str, arguments: dict[str, Any], key: str) -> Any:
        result = self.execute(module, arguments)
        if result.get("failed") or key not in result:
            raise NodeFailure(result)
        try:
            return unpack(result[key])
        except NotUnpacked as error:
            raise NodeFailure({"failed": True, "msg": f"{self.name}: the node's {key} {error}"}) from error


def _still_running(state: Mapping[str, Any], seconds: float) -> str:
    return (
        f"After {seconds:.0f} s transaction {state['id']} is still running on the node, in step {state['step']!r}."
        f" See journalctl --unit volcano-colocation-{state['id']}.service there; run this again when the unit has ended"
    )
