# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to become of a transaction that was cut off: undone, finished, or left as it is for a person to look at."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any, Callable

from ..errors import ColocationError
from . import boot, engine
from .journal import NAME, Journal, State, unfinished
from .node import Node
from .plan import outline, parse
from .services import show
from .steps import START_KUBELET, START_RUNTIME, STOP_KUBELET, STOP_RUNTIME
from .store import Store
from .work import Report, Work, go_on

RESUMABLE = (State.APPLYING, State.VERIFYING)
MINUTE, HOUR, DAY = 60, 3600, 86400


class Way(Enum):
    """What to do with it."""

    UNDO = "undo"
    FINISH = "finish"
    STOP = "stop"


class Unfinished(ColocationError):
    """A transaction was cut off, and is not to be touched."""


class NotResumable(ColocationError):
    """A transaction that cannot go on where it ended."""


def settle(node: Node, store: Store, report: Report, way: Way) -> dict[str, Any] | None:
    """Id and end state of the transaction that was cut off, None when there was none.

    LockHeld when somebody is at work on this node, Unfinished for Way.STOP, NotResumable when it cannot be finished;
    nothing was changed then.
    """
    with engine.alone(node, store, "recovery", report):
        journals = unfinished(store)
        if way is Way.STOP and journals:
            raise _unfinished(node, store, journals[0])
        if way is Way.FINISH and journals and _to_resume(journals):
            return _finish(Work(node, store, report), journals[0])
        return engine.undo_all(node, store, report)


def finish(
    node: Node, store: Store, transaction: str, report: Report, heed: Callable[[], None] = go_on
) -> dict[str, Any] | None:
    """Let this transaction go on, in the engine; its end state, None when it has ended already.

    It is undone when it went on once and was cut off again, or cannot go on; NotResumable as ``settle``.
    """
    with engine.alone(node, store, holder(transaction), report):
        journals = unfinished(store)
        if transaction not in [journal.id for journal in journals]:
            return None
        if journals[0].id == transaction and _to_resume(journals):
            return _finish(Work(node, store, report, heed), journals[0])
        return engine.undo_all(node, store, report)


def undo(node: Node, store: Store, transaction: str, report: Report) -> dict[str, Any] | None:
    """Undo this transaction, in the engine; its end state, None when it has ended already."""
    with engine.alone(node, store, holder(transaction), report):
        if transaction not in [journal.id for journal in unfinished(store)]:
            return None
        return engine.undo_all(node, store, report)


def holder(transaction: str) -> str:
    """How the lock names an engine that brings this transaction to its end."""
    return f"recovery of transaction {transaction}"


def resumable(node: Node, store: Store) -> str | None:
    """Id of the transaction that would go on; None when there is nothing but to undo. NotResumable as ``settle``."""
    journals = unfinished(store)
    if not journals or not _to_resume(journals):
        return None
    _prepare(Work(node, store, lambda _line: None), journals[0])
    return journals[0].id


def _unfinished(node: Node, store: Store, journal: Journal) -> Unfinished:
    path = store.path(journal.id, NAME)
    age = in_words(node.clock.wall() - os.stat(path).st_mtime)
    step = journal.result()["step"] or "none yet"
    return Unfinished(
        f"transaction {journal.id} was cut off {age} ago in step {step!r} ({journal.state.value}); it is left as it is",
        "Run this again with colocation_recover=undo to put the node back, or with finish to go on from that step",
        path,
    )


def in_words(seconds: float) -> str:
    """A time span as people say it."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} seconds"


def _to_resume(journals: list[Journal]) -> bool:
    """Whether something was begun, and neither its undoing nor its going on was."""
    return journals[0].state in RESUMABLE and not journals[0].resumed


def _finish(work: Work, journal: Journal) -> dict[str, Any]:
    _prepare(work, journal)
    work.report(f"transaction {journal.id} goes on")
    boot.arm(work.node, work.plan)
    # An engine that systemd starts again after this undoes.
    journal.mark_resumed()
    engine.apply(work)
    work.store.finish(journal.id, journal.result())
    return journal.recovered_as


def _prepare(work: Work, journal: Journal) -> None:
    try:
        plan = parse(work.store.plan_text(journal.id))
    except (OSError, ColocationError) as error:
        raise _not_resumable(journal, "its plan is not there any more") from error
    if outline(plan.outline) != outline(journal.plan.outline):
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
