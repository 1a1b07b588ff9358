# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The write-ahead journal of one transaction: each change of the node is recorded here before it is made."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..errors import ColocationError
from . import document_schema
from .document_reader import PlanError
from .files import Saved
from .plan_document import Plan, read_plan
from .store import Store

SCHEMA = 1
NAME = "journal.json"


class State(Enum):
    """State of a transaction; the last three are final."""

    PREPARED = "prepared"
    APPLYING = "applying"
    VERIFYING = "verifying"
    ROLLING_BACK = "rolling-back"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled-back"
    ROLLBACK_FAILED = "rollback-failed"


UNDOING = (State.ROLLING_BACK, State.ROLLED_BACK, State.ROLLBACK_FAILED)
ENDS = (State.COMMITTED, State.ROLLED_BACK, State.ROLLBACK_FAILED)


ENTERED = {
    "path": document_schema.path,
    "section": document_schema.section,
    "kind": lambda value: value in ("file", "checkpoint"),
    "original": document_schema.SAVED,
    "committed": (document_schema.SAVED, None),
}
"""An update of the ledger for one path; for a path to remove from the ledger, only ``path`` is present."""


def _entry(value: Any) -> bool:
    return not document_schema.find_mismatch(
        value, ENTERED if isinstance(value, dict) and "kind" in value else {"path": document_schema.path}
    )


SHAPE = {
    "id": document_schema.transaction,
    "state": lambda value: value in [state.value for state in State],
    "plan": {},
    "before": document_schema.BEFORE,
    "files": [document_schema.SAVED],
    "written": [document_schema.path],
    "checkpoints": [document_schema.SAVED],
    "?ledger": ([_entry], None),
    "?entered": document_schema.boolean,
    "begun": [document_schema.text],
    "undone": [document_schema.text],
    "step": document_schema.text,
    "steps": [document_schema.STEP],
    "gate": [{}],
    "error": (document_schema.ERROR, None),
    "recovered": ({}, None),
    "?resumed": document_schema.boolean,
    "?at_boot": document_schema.boolean,
    "?to_prove": [document_schema.text],
}


class Journal:
    """The journal document; a method that changes it returns after the change is on disk."""

    def __init__(self, store: Store, document: dict[str, Any]) -> None:
        self._store = store
        self._document = document

    @classmethod
    def create(cls, store: Store, plan: Plan, before: dict[str, Any], recovered: dict[str, Any] | None) -> Journal:
        """Create a journal. ``before``: the state of the services, and the running pods."""
        journal = cls(
            store,
            {
                "schema": SCHEMA,
                "id": plan.id,
                "state": State.PREPARED.value,
                "plan": plan.outline,
                "before": before,
                "files": [],
                "written": [],
                "checkpoints": [],
                "ledger": None,
                "entered": False,
                "begun": [],
                "undone": [],
                "step": "",
                "steps": [],
                "gate": [],
                "error": None,
                "recovered": recovered,
            },
        )
        journal._save()
        return journal

    @classmethod
    def load(cls, store: Store, transaction: str) -> Journal | None:
        """The journal of a transaction, None if it was never written; ColocationError if it is damaged."""
        document: dict[str, Any] | None = store.read(transaction, NAME)
        if document is None:
            return None
        if document.get("schema") != SCHEMA:
            raise ColocationError(
                f"it has schema {document.get('schema')!r}, and this version reads {SCHEMA}",
                "Use the version of volcano.colocation that wrote it",
                store.place(transaction, NAME),
            )
        where = document_schema.find_mismatch(document, SHAPE) or ("id" if document["id"] != transaction else "")
        if where:
            raise store.damage_error(transaction, NAME, where)
        journal = cls(store, document)
        journal._require_plan()
        return journal

    def _require_plan(self) -> None:
        """An unfinished transaction needs a valid plan: it is finished or rolled back according to it."""
        try:
            if self.state not in ENDS:
                read_plan(self._document["plan"])
        except PlanError as error:
            raise self._store.damage_error(self.id, NAME, error.message) from error

    @classmethod
    def discard(cls, store: Store, transaction: str) -> None:
        """Delete the journal of a transaction that changed nothing."""
        store.remove(transaction, NAME)

    @property
    def id(self) -> str:
        return str(self._document["id"])

    @property
    def state(self) -> State:
        return State(self._document["state"])

    @property
    def plan(self) -> Plan:
        """The plan without file contents."""
        return read_plan(self._document["plan"])

    @property
    def before(self) -> dict[str, Any]:
        """The state of the node when the transaction began."""
        return dict(self._document["before"])

    @property
    def files(self) -> list[Saved]:
        return [Saved.of(entry) for entry in self._document["files"]]

    @property
    def written(self) -> list[str]:
        """Paths of the files that were written, or whose write was about to begin."""
        return list(self._document["written"])

    @property
    def checkpoints(self) -> list[Saved]:
        return [Saved.of(entry) for entry in self._document["checkpoints"]]

    @property
    def error(self) -> dict[str, str] | None:
        error = self._document["error"]
        return None if error is None else dict(error)

    @property
    def at_boot(self) -> bool:
        """True if it was rolled back while the node booted."""
        return bool(self._document.get("at_boot"))

    @property
    def resumed(self) -> bool:
        """True if it was interrupted and then resumed."""
        return bool(self._document.get("resumed"))

    @property
    def recovered_as(self) -> dict[str, Any]:
        """The final state of a transaction that was interrupted."""
        ended: dict[str, Any] = {"id": self.id, "state": self.state.value}
        if self.at_boot:
            ended.update(at_boot=True, to_prove=list(self._document["to_prove"]))
        return ended

    def begun(self, step: str) -> bool:
        """True if the step was started, finished or not."""
        return step in self._document["begun"]

    def done(self, step: str) -> bool:
        """True if the step finished."""
        return any(entry["name"] == step and entry["status"] == "done" for entry in self._document["steps"])

    def undone(self, step: str) -> bool:
        """True if the step was undone by an earlier, interrupted roll-back."""
        return step in self._document["undone"]

    def keep_files(self, saved: list[Saved]) -> None:
        """Record the backups of the files, which are on disk."""
        self._change(files=[entry.document() for entry in saved])

    def begin_file(self, path: str) -> None:
        """Record that a file is about to be written."""
        if path not in self._document["written"]:
            self._change(written=self._document["written"] + [path])

    def cancel_file(self, path: str) -> None:
        """Record that a file was not written, so the roll-back must not restore it."""
        self._change(written=[name for name in self._document["written"] if name != path])

    def keep_checkpoints(self, saved: list[Saved]) -> None:
        """Record the backups of the checkpoints, which are on disk."""
        self._change(checkpoints=[entry.document() for entry in saved])

    def keep_ended(self, pods: list[str]) -> None:
        """Record pods that had already ended; the evidence is lost when their sandboxes are removed."""
        self._change(before={**self._document["before"], "ended": pods})

    @property
    def ledger(self) -> list[dict[str, Any]] | None:
        """Updates for the ledger; None if none were recorded, as in journals of versions without a ledger."""
        return self._document.get("ledger")

    @property
    def entered(self) -> bool:
        """True if the ledger contains the updates."""
        return bool(self._document.get("entered"))

    def keep_ledger(self, entries: list[dict[str, Any]]) -> None:
        """Record the updates that enter the ledger when the transaction is committed."""
        self._change(ledger=entries)

    def mark_entered(self) -> None:
        self._change(entered=True)

    def mark_resumed(self) -> None:
        self._change(resumed=True)

    def enter(self, state: State) -> None:
        self._change(state=state.value)

    def begin(self, step: str) -> None:
        """Record that a step is about to change the node."""
        begun = [name for name in self._document["begun"] if name != step]
        self._change(begun=[*begun, step], step=step)

    def announce(self, step: str) -> None:
        """Record that a step of the roll-back is about to change the node."""
        self._change(step=step)

    def end(self, step: str, status: str, seconds: float, detail: str) -> None:
        entry = {"name": step, "status": status, "seconds": round(seconds, 2), "detail": detail}
        self._change(steps=self._document["steps"] + [entry])

    def mark_undone(self, step: str) -> None:
        self._change(undone=self._document["undone"] + [step])

    def record_failure(self, step: str, message: str) -> None:
        """Record why the transaction is rolled back."""
        self._change(error={"step": step, "message": message, "node": ""})

    def describe_node(self, node: str) -> None:
        """Record the state of the node after the roll-back."""
        self._change(error=dict(self._document["error"], node=node))

    def end_at_boot(self, to_prove: list[str], troubles: list[str]) -> None:
        """Record a roll-back before any service started. ``to_prove``: what must be true after the services start."""
        state = State.ROLLBACK_FAILED if troubles else State.ROLLED_BACK
        self._change(state=state.value, at_boot=True, to_prove=to_prove)

    def keep_gate(self, findings: list[dict[str, str]]) -> None:
        self._change(gate=findings)

    def result(self) -> dict[str, Any]:
        """The current result for the controller."""
        state = self.state
        return {
            "id": self.id,
            "state": state.value if state in ENDS else "applying",
            "step": self._document["step"],
            "steps": self._document["steps"],
            "error": self._document["error"],
            "gate": self._document["gate"],
            "recovered": self._document["recovered"],
        }

    def _change(self, **changes: Any) -> None:
        self._document.update(changes)
        self._save()

    def _save(self) -> None:
        try:
            self._store.write(self.id, NAME, self._document)
        except OSError:
            # The disk is full: the roll-back is more important than its record, and can be repeated.
            if self.state not in UNDOING:
                raise


def committed_journals(store: Store) -> list[Journal]:
    """Journals of committed transactions, oldest first."""
    return in_state(store, State.COMMITTED)


def in_state(store: Store, state: State) -> list[Journal]:
    """Journals of transactions in one state, oldest first."""
    journals = (Journal.load(store, transaction) for transaction in store.transactions())
    return [journal for journal in journals if journal is not None and journal.state is state]


def unfinished_journals(store: Store) -> list[Journal]:
    """Journals of interrupted transactions, newest first."""
    journals = (Journal.load(store, transaction) for transaction in reversed(store.transactions()))
    return [journal for journal in journals if journal is not None and journal.state not in ENDS]


def rollback_at_boot(store: Store) -> dict[str, Any] | None:
    """The final state of the last transaction if it was rolled back at boot, which no run has reported yet."""
    journals = (Journal.load(store, transaction) for transaction in reversed(store.transactions()))
    last = next((journal for journal in journals if journal is not None), None)
    return None if last is None or not last.at_boot else last.recovered_as
