# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to become of a transaction that was cut off: undone, finished, or left as it is for a person to look at."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any, Callable

from ..cri.node_access import Node
from ..errors import ColocationError
from ..state.journal import NAME, Journal, State, unfinished_journals
from ..state.plan_document import parse_plan, plan_outline
from ..state.store import Store
from ..systemd.service_units import show
from . import boot_unit, runner
from .context import Report, TransactionContext, never_cancelled
from .steps import START_KUBELET, START_RUNTIME, STOP_KUBELET, STOP_RUNTIME

RESUMABLE = (State.APPLYING, State.VERIFYING)
MINUTE, HOUR, DAY = 60, 3600, 86400


class RecoveryMode(Enum):
    """What to do with it."""

    UNDO = "undo"
    FINISH = "finish"
    STOP = "stop"


class Unfinished(ColocationError):
    """A transaction was cut off, and is not to be touched."""


class NotResumable(ColocationError):
    """A transaction that cannot go on where it ended."""


def recover(node: Node, store: Store, report: Report, way: RecoveryMode) -> dict[str, Any] | None:
    """Id and end state of the transaction that was cut off, None when there was none.

    LockHeld when somebody is running on this node, Unfinished for STOP, NotResumable when it cannot be finished;
    nothing was changed then.
    """
    with runner.hold_node(node, store, "recovery", report):
        journals = unfinished_journals(store)
        if way is RecoveryMode.STOP and journals:
            raise _unfinished_error(node, store, journals[0])
        if way is RecoveryMode.FINISH and journals and _to_resume(journals):
            return _finish(TransactionContext(node, store, report), journals[0])
        return runner.undo_all(node, store, report)


def finish(
    node: Node, store: Store, transaction: str, report: Report, heed: Callable[[], None] = never_cancelled
) -> dict[str, Any] | None:
    """Let this transaction go on, in the engine; its end state, None when it has ended already.

    It is undone when it went on once and was cut off again, or cannot go on; NotResumable as ``recover``.
    """
    with runner.hold_node(node, store, holder(transaction), report):
        journals = unfinished_journals(store)
        if transaction not in [journal.id for journal in journals]:
            return None
        if journals[0].id == transaction and _to_resume(journals):
            return _finish(TransactionContext(node, store, report, heed), journals[0])
        return runner.undo_all(node, store, report)


def undo(node: Node, store: Store, transaction: str, report: Report) -> dict[str, Any] | None:
    """Undo this transaction, in the engine; its end state, None when it has ended already."""
    with runner.hold_node(node, store, holder(transaction), report):
        if transaction not in [journal.id for journal in unfinished_journals(store)]:
            return None
        return runner.undo_all(node, store, report)


def holder(transaction: str) -> str:
    """How the lock names an engine that brings this transaction to its end."""
    return f"recovery of transaction {transaction}"


def resumable_transaction(node: Node, store: Store) -> str | None:
    """Id of the transaction that would go on; None when there is nothing but to undo. NotResumable as ``recover``."""
    journals = unfinished_journals(store)
    if not journals or not _to_resume(journals):
        return None
    _prepare(TransactionContext(node, store, lambda _line: None), journals[0])
    return journals[0].id


def _unfinished_error(node: Node, store: Store, journal: Journal) -> Unfinished:
    path = store.path(journal.id, NAME)
    age = format_duration(node.clock.wall() - os.stat(path).st_mtime)
    step = journal.result()["step"] or "none yet"
    return Unfinished(
        f"transaction {journal.id} was cut off {age} ago in step {step!r} ({journal.state.value}); it is left as it is",
        "Run this again with colocation_recover=undo to put the node back, or with finish to go on from that step",
        path,
    )


def format_duration(seconds: float) -> str:
    """A time span as people say it."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} seconds"


def _to_resume(journals: list[Journal]) -> bool:
    """Whether something was begun, and neither its undoing nor its going on was."""
    return journals[0].state in RESUMABLE and not journals[0].resumed


def _finish(work: TransactionContext, journal: Journal) -> dict[str, Any]:
    _prepare(work, journal)
    work.report(f"transaction {journal.id} goes on")
    boot_unit.enable(work.node, work.plan)
    # An engine that systemd starts again after this undoes.
    journal.mark_resumed()
    runner.apply_steps(work)
    work.store.finish(journal.id, journal.result())
    return journal.recovered_as


def _prepare(work: TransactionContext, journal: Journal) -> None:
    try:
        plan = parse_plan(work.store.plan_text(journal.id))
    except (OSError, ColocationError) as error:
        raise _not_resumable(journal, "its plan is not there any more") from error
    if plan_outline(plan.outline) != plan_outline(journal.plan.outline):
        raise _not_resumable(journal, "its plan is not the one that was begun")
    work.plan, work.journal = plan, journal
    for service, stop, start in (
        (plan.kubelet, STOP_KUBELET, START_KUBELET),
        (plan.runtime, STOP_RUNTIME, START_RUNTIME),
    ):
        stopped = journal.done(stop) and not journal.begun(start)
        if service is not None and stopped and show(work.node, service.unit).runs:
            raise _not_resumable(journal, f"it had stopped {service.unit}, which somebody else has started since")


def _not_resumable(journal: Journal, reason: str) -> NotResumable:
    return NotResumable(
        f"transaction {journal.id} cannot go on: {reason}", "Run this again with colocation_recover=undo"
    )
