# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a plan to this node completely or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ..cri.node_access import Node
from ..errors import ColocationError
from ..state import files
from ..state.journal import Journal, State, rollback_at_boot, unfinished_journals
from ..state.node_lock import LockHeld, hold
from ..state.plan_document import parse_plan
from ..state.store import CANDIDATES, RESULT, STATE_DIRECTORY, Store
from . import abandoned, boot_unit, ledger_update, preflight, rollback
from .context import Report, TransactionContext, error_message, never_cancelled, refusal_result
from .rollback import roll_back
from .steps import STEPS, Step, StepFailed
from .validation import validate

LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock: another process may be testing it, or may be about to end."""


class Cancelled(ColocationError):
    """The process was asked to end (SIGTERM)."""


def execute(
    node: Node, store: Store, transaction: str, report: Report, check_cancelled: Callable[[], None] = never_cancelled
) -> dict[str, Any]:
    """Apply the transaction in the store and return its result, which is also written to the store.

    Interrupted transactions, including this one, are rolled back first. ``check_cancelled`` is called between
    operations and raises Cancelled if the process was asked to end; a roll-back does not call it.
    """
    try:
        with hold_node(node, store, _holder(store, transaction), report, transaction):
            recovered = undo_all(node, store, report)
            result = _recorded_result(store, transaction)
            if result is None:
                result = _attempt(TransactionContext(node, store, report, check_cancelled), transaction, recovered)
    except (ColocationError, OSError) as error:
        journal = Journal.load(store, transaction)
        if journal is not None and isinstance(error, LockHeld):
            # It was interrupted, and another process is rolling it back and will write the result.
            return journal.result()
        result = refusal_result(transaction, "begin", error, None)
    store.finish(transaction, result)
    return result


def _holder(store: Store, transaction: str) -> str:
    """How the lock file names this transaction to other processes."""
    try:
        controller = parse_plan(store.plan_text(transaction)).controller
    except (OSError, ColocationError):
        controller = None
    return f"transaction {transaction}" + (f" from {controller}" if controller else "")


@contextmanager
def hold_node(node: Node, store: Store, holder: str, report: Report, own: str = "") -> Iterator[None]:
    """Hold the node's lock; on release, disable the roll-back at boot if no transaction is open.

    ``own``: the transaction that is about to begin, which is not abandoned however old its plan is.
    """
    with hold(store.lock_path, holder, node.clock, LOCK_TIMEOUT):
        try:
            abandoned.end_abandoned(store, node.clock.wall(), report, own)
            _enter_in_ledger(node, store, report)
            yield
            _enter_in_ledger(node, store, report)
        finally:
            if not unfinished_journals(store):
                boot_unit.disable(node.host)


def recover(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Roll back every unfinished transaction; id and final state of the newest one, None if there was none.

    LockHeld if another transaction is running on this node.
    """
    with hold_node(node, store, "recovery", report):
        return undo_all(node, store, report)


def recover_at_boot(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Like ``recover``, before any service has started; services are not started, stopped or waited for."""
    with hold_node(node, store, "recovery at boot", report):
        return _undo_unfinished(node, store, report, rollback.roll_back_at_boot)


def undo_all(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Roll back unfinished transactions. The caller holds the lock, so no other process works on them."""

    def undo(context: TransactionContext) -> None:
        roll_back(context, "the process of the transaction, or the node, ended before the transaction did")

    return _undo_unfinished(node, store, report, undo)


def _undo_unfinished(
    node: Node, store: Store, report: Report, undo: Callable[[TransactionContext], None]
) -> dict[str, Any] | None:
    ended = [
        _undo_journal(TransactionContext(node, store, report), journal, undo) for journal in unfinished_journals(store)
    ]
    # Write the newest result last: a process that waits for it waits for all of them.
    for journal in reversed(ended):
        store.finish(journal.id, journal.result())
    return ended[0].recovered_as if ended else None


def _enter_in_ledger(node: Node, store: Store, report: Report) -> None:
    """Enter committed transactions in the ledger. After an error, the next run enters them."""
    try:
        ledger_update.enter_committed(node.host, store)
    except (ColocationError, OSError) as error:
        report(f"the ledger: {error_message(error)}")


def _recorded_result(store: Store, transaction: str) -> dict[str, Any] | None:
    """The result of a transaction that has ended, also if it was interrupted before the result was written."""
    result = store.read(transaction, RESULT)
    if result is not None:
        return dict(result)
    journal = Journal.load(store, transaction)
    return journal.result() if journal is not None else None


def _undo_journal(context: TransactionContext, journal: Journal, undo: Callable[[TransactionContext], None]) -> Journal:
    context.report(f"rolling back the unfinished transaction {journal.id}")
    context.plan, context.journal = journal.plan, journal
    undo(context)
    return journal


def _attempt(context: TransactionContext, transaction: str, recovered: dict[str, Any] | None) -> dict[str, Any]:
    step = "check the node"
    try:
        context.plan = parse_plan(context.store.plan_text(transaction))
        _require_fresh_plan(context, recovered)
        preflight.check(context.node, context.plan)
        before = preflight.observe(context.node, context.plan)
        step = "validate"
        validate(context.node, context.plan, context.store.path(transaction, CANDIDATES))
        step = "back up"
        context.journal = Journal.create(
            context.store, context.plan, before, recovered or rollback_at_boot(context.store)
        )
        _back_up(context)
        ledger_update.stage_ledger(context)
        boot_unit.enable(context.node, context.plan)
    except Exception as error:
        Journal.discard(context.store, transaction)
        return refusal_result(transaction, step, error, recovered)
    apply_steps(context)
    return context.journal.result()


def _require_fresh_plan(context: TransactionContext, recovered: dict[str, Any] | None) -> None:
    """Refuse a plan that may depend on the changes of a transaction that was rolled back after the plan was made.

    A plan that edits all of the restored files is allowed: its hashes are checked against them.
    """
    if recovered is None:
        return
    if recovered["state"] != State.ROLLED_BACK.value:
        raise preflight.Refused(
            f"the earlier transaction {recovered['id']} was interrupted and could not be rolled back completely",
            f"Its result.json in {STATE_DIRECTORY} lists what remains to be done by hand; then run this again",
        )
    undone = Journal.load(context.store, recovered["id"])
    restored = {saved.path for saved in undone.files} if undone is not None else set()
    if not restored <= {edit.path for edit in context.plan.files}:
        raise preflight.Refused(
            f"the unfinished transaction {recovered['id']} was rolled back first, and the plan was made before that",
            "Run this again",
        )


def _back_up(context: TransactionContext) -> None:
    saved = [
        files.save(context.node.host, edit.path, edit.mode, context.backups, f"file-{index}")
        for index, edit in enumerate(context.plan.files)
    ]
    context.journal.keep_files(saved)


def apply_steps(context: TransactionContext) -> None:
    """Apply every step that is not done; an error rolls all of them back.

    A BaseException that is not an Exception is treated as a crash, and the next start rolls back.
    """
    try:
        context.journal.enter(State.APPLYING)
        for step in STEPS:
            if step.applies(context.plan) and not context.journal.done(step.name):
                context.check_cancelled()
                _apply_step(context, step)
        ledger_update.record_changes(context)
        context.journal.enter(State.COMMITTED)
    except Exception as error:
        roll_back(context, error_message(error))


def _apply_step(context: TransactionContext, step: Step) -> None:
    context.journal.begin(step.name)
    began = context.node.clock.monotonic()
    try:
        status, detail = "done", step.do(context)
    except Exception as error:
        status, detail = "failed", error_message(error)
    seconds = context.node.clock.monotonic() - began
    context.report(f"{step.name}: {status} in {seconds:.1f} s")
    context.journal.end(step.name, status, seconds, detail)
    if status == "failed":
        context.journal.record_failure(step.name, detail)
        raise StepFailed(detail)
