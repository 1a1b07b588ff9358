# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries a plan out on this node, all of it or nothing."""

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
"""Seconds to wait for the lock: somebody may look at this moment whether anybody has it, or just be ending."""


class Cancelled(ColocationError):
    """The process was asked to end (SIGTERM)."""


def execute(
    node: Node, store: Store, transaction: str, report: Report, heed: Callable[[], None] = never_cancelled
) -> dict[str, Any]:
    """Carry out the transaction that lies in the store and return its answer, which is kept there as well.

    Transactions that were cut off earlier, this one included, are undone first. ``heed`` is called now and then and
    raises Stopped when the process is asked to end; undoing does not heed it.
    """
    try:
        with hold_node(node, store, _holder(store, transaction), report, transaction):
            recovered = undo_all(node, store, report)
            answer = _recorded_result(store, transaction)
            if answer is None:
                answer = _attempt(TransactionContext(node, store, report, heed), transaction, recovered)
    except (ColocationError, OSError) as error:
        journal = Journal.load(store, transaction)
        if journal is not None and isinstance(error, LockHeld):
            # It was cut off, and somebody else is just undoing it: the answer is theirs.
            return journal.result()
        answer = refusal_result(transaction, "begin", error, None)
    store.finish(transaction, answer)
    return answer


def _holder(store: Store, transaction: str) -> str:
    """How the lock names this transaction to others."""
    try:
        controller = parse_plan(store.plan_text(transaction)).controller
    except (OSError, ColocationError):
        controller = None
    return f"transaction {transaction}" + (f" from {controller}" if controller else "")


@contextmanager
def hold_node(node: Node, store: Store, holder: str, report: Report, own: str = "") -> Iterator[None]:
    """Hold the node's lock. When it goes and nothing is open, nothing is left to be undone at boot.

    ``own``: the transaction that is about to begin, however old its plan is.
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
    """Undo every unfinished transaction; id and end state of the newest one, None when there was none.

    LockHeld when somebody is running on this node.
    """
    with hold_node(node, store, "recovery", report):
        return undo_all(node, store, report)


def recover_at_boot(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """The same before any service has started; none is started, stopped or waited for."""
    with hold_node(node, store, "recovery at boot", report):
        return _undo_unfinished(node, store, report, rollback.roll_back_at_boot)


def undo_all(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Whoever calls this holds the lock, so that nobody works on the unfinished transactions any more."""

    def undo(work: TransactionContext) -> None:
        roll_back(work, "the process that carried out the transaction, or the node, ended in the middle of it")

    return _undo_unfinished(node, store, report, undo)


def _undo_unfinished(
    node: Node, store: Store, report: Report, undo: Callable[[TransactionContext], None]
) -> dict[str, Any] | None:
    ended = [
        _undo_journal(TransactionContext(node, store, report), journal, undo) for journal in unfinished_journals(store)
    ]
    # The newest one's answer last: who waits for it waits for all of them.
    for journal in reversed(ended):
        store.finish(journal.id, journal.result())
    return ended[0].recovered_as if ended else None


def _enter_in_ledger(node: Node, store: Store, report: Report) -> None:
    """Enter in the ledger what is committed. What cannot be entered now is entered next time."""
    try:
        ledger_update.enter_committed(node.host, store)
    except (ColocationError, OSError) as error:
        report(f"the ledger: {error_message(error)}")


def _recorded_result(store: Store, transaction: str) -> dict[str, Any] | None:
    """The answer of a transaction that has ended, also when it was cut off between its end and its answer."""
    answer = store.read(transaction, RESULT)
    if answer is not None:
        return dict(answer)
    journal = Journal.load(store, transaction)
    return journal.result() if journal is not None else None


def _undo_journal(work: TransactionContext, journal: Journal, undo: Callable[[TransactionContext], None]) -> Journal:
    work.report(f"undo of the unfinished transaction {journal.id}")
    work.plan, work.journal = journal.plan, journal
    undo(work)
    return journal


def _attempt(work: TransactionContext, transaction: str, recovered: dict[str, Any] | None) -> dict[str, Any]:
    step = "check the node"
    try:
        work.plan = parse_plan(work.store.plan_text(transaction))
        _require_fresh_plan(work, recovered)
        preflight.check(work.node, work.plan)
        before = preflight.observe(work.node, work.plan)
        step = "validate"
        validate(work.node, work.plan, work.store.path(transaction, CANDIDATES))
        step = "back up"
        work.journal = Journal.create(work.store, work.plan, before, recovered or rollback_at_boot(work.store))
        _back_up(work)
        ledger_update.stage_ledger(work)
        boot_unit.enable(work.node, work.plan)
    except Exception as error:
        Journal.discard(work.store, transaction)
        return refusal_result(transaction, step, error, recovered)
    apply_steps(work)
    return work.journal.result()


def _require_fresh_plan(work: TransactionContext, recovered: dict[str, Any] | None) -> None:
    """Refuse a plan that was made from a node in the middle of a transaction that has just been undone.

    A plan that edits all the files that were put back is checked by their hashes; another may rest on what was undone.
    """
    if recovered is None:
        return
    if recovered["state"] != State.ROLLED_BACK.value:
        raise preflight.Refused(
            f"the earlier transaction {recovered['id']} was cut off and could not be undone entirely",
            f"Its result.json in {STATE_DIRECTORY} says what is left to do by hand; then run this again",
        )
    undone = Journal.load(work.store, recovered["id"])
    put_back = {saved.path for saved in undone.files} if undone is not None else set()
    if not put_back <= {edit.path for edit in work.plan.files}:
        raise preflight.Refused(
            f"the unfinished transaction {recovered['id']} was undone first, and the plan was made before that",
            "Run this again",
        )


def _back_up(work: TransactionContext) -> None:
    saved = [
        files.save(work.node.host, edit.path, edit.mode, work.backups, f"file-{index}")
        for index, edit in enumerate(work.plan.files)
    ]
    work.journal.keep_files(saved)


def apply_steps(work: TransactionContext) -> None:
    """Every step that is not done; an ordinary error undoes all of them.

    What is no Exception is a crash, and the next start undoes it.
    """
    try:
        work.journal.enter(State.APPLYING)
        for step in STEPS:
            if step.wanted(work.plan) and not work.journal.done(step.name):
                work.check_cancelled()
                _apply_step(work, step)
        ledger_update.note_changes(work)
        work.journal.enter(State.COMMITTED)
    except Exception as error:
        roll_back(work, error_message(error))


def _apply_step(work: TransactionContext, step: Step) -> None:
    work.journal.begin(step.name)
    began = work.node.clock.monotonic()
    try:
        status, detail = "done", step.do(work)
    except Exception as error:
        status, detail = "failed", error_message(error)
    seconds = work.node.clock.monotonic() - began
    work.report(f"{step.name}: {status} in {seconds:.1f} s")
    work.journal.end(step.name, status, seconds, detail)
    if status == "failed":
        work.journal.record_failure(step.name, detail)
        raise StepFailed(detail)
