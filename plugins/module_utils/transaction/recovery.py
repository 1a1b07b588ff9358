# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recovery of an interrupted transaction: roll it back, finish it, or leave it for an administrator."""

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
    """How to recover an interrupted transaction."""

    UNDO = "undo"
    FINISH = "finish"
    STOP = "stop"


class Unfinished(ColocationError):
    """A transaction was interrupted, and the recovery mode is STOP."""


class NotResumable(ColocationError):
    """A transaction that cannot be resumed."""


def recover(node: Node, store: Store, report: Report, mode: RecoveryMode) -> dict[str, Any] | None:
    """Recover the interrupted transaction: its id and final state, None if there was none.

    LockHeld if another transaction is running on this node, Unfinished for STOP, NotResumable if it cannot be
    finished; these errors change nothing.
    """
    with runner.hold_node(node, store, "recovery", report):
        journals = unfinished_journals(store)
        if mode is RecoveryMode.STOP and journals:
            raise _unfinished_error(node, store, journals[0])
        if mode is RecoveryMode.FINISH and journals and _is_resumable(journals):
            return _finish(TransactionContext(node, store, report), journals[0])
        return runner.undo_all(node, store, report)


def finish(
    node: Node, store: Store, transaction: str, report: Report, check_cancelled: Callable[[], None] = never_cancelled
) -> dict[str, Any] | None:
    """Resume this transaction in the engine; its final state, None if it has already ended.

    It is rolled back if it was already resumed once, or cannot be resumed; NotResumable like ``recover``.
    """
    with runner.hold_node(node, store, holder(transaction), report):
        journals = unfinished_journals(store)
        if transaction not in [journal.id for journal in journals]:
            return None
        if journals[0].id == transaction and _is_resumable(journals):
            return _finish(TransactionContext(node, store, report, check_cancelled), journals[0])
        return runner.undo_all(node, store, report)


def undo(node: Node, store: Store, transaction: str, report: Report) -> dict[str, Any] | None:
    """Roll back this transaction in the engine; its final state, None if it has already ended."""
    with runner.hold_node(node, store, holder(transaction), report):
        if transaction not in [journal.id for journal in unfinished_journals(store)]:
            return None
        return runner.undo_all(node, store, report)


def holder(transaction: str) -> str:
    """How the lock file names an engine that recovers this transaction."""
    return f"recovery of transaction {transaction}"


def resumable_transaction(node: Node, store: Store) -> str | None:
    """Id of the transaction that would be resumed, None if it would be rolled back. NotResumable like ``recover``."""
    journals = unfinished_journals(store)
    if not journals or not _is_resumable(journals):
        return None
    _prepare(TransactionContext(node, store, lambda _line: None), journals[0])
    return journals[0].id


def _unfinished_error(node: Node, store: Store, journal: Journal) -> Unfinished:
    path = store.path(journal.id, NAME)
    age = format_duration(node.clock.wall() - os.stat(path).st_mtime)
    step = journal.result()["step"] or "none yet"
    return Unfinished(
        f"transaction {journal.id} was interrupted {age} ago in step {step!r} ({journal.state.value}); it is unchanged",
        "Run this again with colocation_recover=undo to roll the node back, or with finish to resume from that step",
        path,
    )


def format_duration(seconds: float) -> str:
    """A duration in days, hours, minutes or seconds."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} seconds"


def _is_resumable(journals: list[Journal]) -> bool:
    """Whether the newest transaction began, and was neither rolled back nor resumed yet."""
    return journals[0].state in RESUMABLE and not journals[0].resumed


def _finish(context: TransactionContext, journal: Journal) -> dict[str, Any]:
    _prepare(context, journal)
    context.report(f"resuming transaction {journal.id}")
    boot_unit.enable(context.node, context.plan)
    # If systemd restarts the engine after this, the engine rolls back.
    journal.mark_resumed()
    runner.apply_steps(context)
    context.store.finish(journal.id, journal.result())
    return journal.recovered_as


def _prepare(context: TransactionContext, journal: Journal) -> None:
    try:
        plan = parse_plan(context.store.plan_text(journal.id))
    except (OSError, ColocationError) as error:
        raise _not_resumable(journal, "its plan no longer exists") from error
    if plan_outline(plan.outline) != plan_outline(journal.plan.outline):
        raise _not_resumable(journal, "its plan differs from the one in the journal")
    context.plan, context.journal = plan, journal
    for service, stop, start in (
        (plan.kubelet, STOP_KUBELET, START_KUBELET),
        (plan.runtime, STOP_RUNTIME, START_RUNTIME),
    ):
        stopped = journal.done(stop) and not journal.begun(start)
        if service is not None and stopped and show(context.node, service.unit).runs:
            raise _not_resumable(journal, f"it stopped {service.unit}, which someone else has started since")


def _not_resumable(journal: Journal, reason: str) -> NotResumable:
    return NotResumable(
        f"transaction {journal.id} cannot be resumed: {reason}", "Run this again with colocation_recover=undo"
    )
