# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries a plan out on this node, all of it or nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ..errors import ColocationError
from . import boot, boot_undo, files, ledger_entry, leftovers, preflight
from .answer import refusal
from .journal import Journal, State, undone_at_boot, unfinished
from .lock import LockHeld, hold
from .node import Node
from .plan import parse
from .rollback import roll_back
from .steps import STEPS, Step, StepFailed
from .store import CANDIDATES, RESULT, STATE_FOLDER, Store
from .validation import validate
from .wording import in_words
from .work import Report, Work, go_on

PATIENCE = 5.0
"""Seconds to wait for the lock: somebody may look at this moment whether anybody has it, or just be ending."""


class Stopped(ColocationError):
    """The process was asked to end (SIGTERM)."""


def execute(
    node: Node, store: Store, transaction: str, report: Report, heed: Callable[[], None] = go_on
) -> dict[str, Any]:
    """Carry out the transaction that lies in the store and return its answer, which is kept there as well.

    Transactions that were cut off earlier, this one included, are undone first. ``heed`` is called now and then and
    raises Stopped when the process is asked to end; undoing does not heed it.
    """
    try:
        with alone(node, store, _holder(store, transaction), report, transaction):
            recovered = undo_all(node, store, report)
            answer = _answer(store, transaction)
            if answer is None:
                answer = _attempt(Work(node, store, report, heed), transaction, recovered)
    except (ColocationError, OSError) as error:
        journal = Journal.load(store, transaction)
        if journal is not None and isinstance(error, LockHeld):
            # It was cut off, and somebody else is just undoing it: the answer is theirs.
            return journal.result()
        answer = refusal(transaction, "begin", error, None)
    store.finish(transaction, answer)
    return answer


def _holder(store: Store, transaction: str) -> str:
    """How the lock names this transaction to others."""
    try:
        controller = parse(store.plan_text(transaction)).controller
    except (OSError, ColocationError):
        controller = None
    return f"transaction {transaction}" + (f" from {controller}" if controller else "")


@contextmanager
def alone(node: Node, store: Store, holder: str, report: Report, own: str = "") -> Iterator[None]:
    """Hold the node's lock. When it goes and nothing is open, nothing is left to be undone at boot.

    ``own``: the transaction that is about to begin, however old its plan is.
    """
    with hold(store.lock_path, holder, node.clock, PATIENCE):
        try:
            leftovers.end(store, node.clock.wall(), report, own)
            _settle(node, store, report)
            yield
            _settle(node, store, report)
        finally:
            if not unfinished(store):
                boot.disarm(node.host)


def recover(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Undo every unfinished transaction; id and end state of the newest one, None when there was none.

    LockHeld when somebody is at work on this node.
    """
    with alone(node, store, "recovery", report):
        return undo_all(node, store, report)


def recover_at_boot(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """The same before any service has started; none is started, stopped or waited for."""
    with alone(node, store, "recovery at boot", report):
        return _undone(node, store, report, boot_undo.roll_back)


def undo_all(node: Node, store: Store, report: Report) -> dict[str, Any] | None:
    """Whoever calls this holds the lock, so that nobody works on the unfinished transactions any more."""

    def undo(work: Work) -> None:
        roll_back(work, "the process that carried out the transaction, or the node, ended in the middle of it")

    return _undone(node, store, report, undo)


def _undone(node: Node, store: Store, report: Report, undo: Callable[[Work], None]) -> dict[str, Any] | None:
    ended = [_recover(Work(node, store, report), journal, undo) for journal in unfinished(store)]
    # The newest one's answer last: who waits for it waits for all of them.
    for journal in reversed(ended):
        store.finish(journal.id, journal.result())
    return ended[0].recovered_as if ended else None


def _settle(node: Node, store: Store, report: Report) -> None:
    """Enter in the ledger what is committed. What cannot be entered now is entered next time."""
    try:
        ledger_entry.settle(node.host, store)
    except (ColocationError, OSError) as error:
        report(f"the ledger: {in_words(error)}")


def _answer(store: Store, transaction: str) -> dict[str, Any] | None:
    """The answer of a transaction that has ended, also when it was cut off between its end and its answer."""
    answer = store.read(transaction, RESULT)
    if answer is not None:
        return dict(answer)
    journal = Journal.load(store, transaction)
    return journal.result() if journal is not None else None


def _recover(work: Work, journal: Journal, undo: Callable[[Work], None]) -> Journal:
    work.report(f"undo of the unfinished transaction {journal.id}")
    work.plan, work.journal = journal.plan, journal
    undo(work)
    return journal


def _attempt(work: Work, transaction: str, recovered: dict[str, Any] | None) -> dict[str, Any]:
    step = "check the node"
    try:
        work.plan = parse(work.store.plan_text(transaction))
        _require_fresh_plan(work, recovered)
        preflight.check(work.node, work.plan)
        before = preflight.observe(work.node, work.plan)
        step = "validate"
        validate(work.node, work.plan, work.store.path(transaction, CANDIDATES))
        step = "back up"
        work.journal = Journal.create(work.store, work.plan, before, recovered or undone_at_boot(work.store))
        _back_up(work)
        ledger_entry.foresee(work)
        boot.arm(work.node, work.plan)
    except Exception as error:
        Journal.discard(work.store, transaction)
        return refusal(transaction, step, error, recovered)
    apply(work)
    return work.journal.result()


def _require_fresh_plan(work: Work, recovered: dict[str, Any] | None) -> None:
    """Refuse a plan that was made from a node in the middle of a transaction that has just been undone.

    A plan that edits all the files that were put back is checked by their hashes; another may rest on what was undone.
    """
    if recovered is None:
        return
    if recovered["state"] != State.ROLLED_BACK.value:
        raise preflight.Refused(
            f"the earlier transaction {recovered['id']} was cut off and could not be undone entirely",
            f"Its result.json in {STATE_FOLDER} says what is left to do by hand; then run this again",
        )
    undone = Journal.load(work.store, recovered["id"])
    put_back = {saved.path for saved in undone.files} if undone is not None else set()
    if not put_back <= {edit.path for edit in work.plan.files}:
        raise preflight.Refused(
            f"the unfinished transaction {recovered['id']} was undone first, and the plan was made before that",
            "Run this again",
        )


def _back_up(work: Work) -> None:
    saved = [
        files.save(work.node.host, edit.path, edit.mode, work.backups, f"file-{index}")
        for index, edit in enumerate(work.plan.files)
    ]
    work.journal.keep_files(saved)


def apply(work: Work) -> None:
    """Every step that is not done; an ordinary error undoes all of them.

    What is no Exception is a crash, and the next start undoes it.
    """
    try:
        work.journal.enter(State.APPLYING)
        for step in STEPS:
            if step.wanted(work.plan) and not work.journal.done(step.name):
                work.heed()
                _carry_out(work, step)
        ledger_entry.note(work)
        work.journal.enter(State.COMMITTED)
    except Exception as error:
        roll_back(work, in_words(error))


def _carry_out(work: Work, step: Step) -> None:
    work.journal.begin(step.name)
    began = work.node.clock.monotonic()
    try:
        status, detail = "done", step.do(work)
    except Exception as error:
        status, detail = "failed", in_words(error)
    seconds = work.node.clock.monotonic() - began
    work.report(f"{step.name}: {status} in {seconds:.1f} s")
    work.journal.end(step.name, status, seconds, detail)
    if status == "failed":
        work.journal.blame(step.name, detail)
        raise StepFailed(detail)
