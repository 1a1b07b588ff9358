# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions that nobody will end any more: a plan, which holds file contents, is not to lie there for ever.

Such a one was laid down by a module that was killed before an engine took it up, or its engine was gone for good before
the journal was begun or after it had ended. Nothing of the node is to be undone.
"""

from __future__ import annotations

import os

from ..errors import ColocationError
from ..state.journal import ENDS, Journal
from ..state.store import RESULT, Store
from .context import Report, error_message, refusal_result

ABANDONED_AFTER = 900.0
"""Seconds after which nobody is about to begin, and no controller that lost its connection still asks for an answer:
those do so for five minutes (plugin_utils/node/transport.py)."""


def end_abandoned(store: Store, now: float, report: Report, own: str = "") -> None:
    """Give each of them its answer and drop its plan; ``own`` excepted. Whoever calls this holds the lock.

    It gets an answer so that whoever comes late all the same is told that nothing was changed, and begins nothing.
    """
    for transaction in store.transactions():
        try:
            if transaction != own and store.exists(transaction):
                _end(store, transaction, now, report)
        except (ColocationError, OSError) as error:
            report(f"{transaction}: {error_message(error)}")


def is_abandoned(store: Store, transaction: str, now: float) -> bool:
    """Whether it has no answer, changed nothing that is not settled, and was not touched for a while."""
    if store.read(transaction, RESULT) is not None or now - os.stat(store.path(transaction)).st_mtime < ABANDONED_AFTER:
        return False
    journal = Journal.load(store, transaction)
    return journal is None or journal.state in ENDS


def _end(store: Store, transaction: str, now: float, report: Report) -> None:
    if store.read(transaction, RESULT) is not None:
        # Killed between the answer and the removal of the plan.
        store.drop(transaction)
    elif is_abandoned(store, transaction, now):
        journal = Journal.load(store, transaction)
        report(f"{transaction} was left behind: " + ("it had ended" if journal else "it was never begun"))
        answer = journal.result() if journal else refusal_result(transaction, "begin", NeverStarted(), None)
        store.finish(transaction, answer)


class NeverStarted(ColocationError):
    """What a transaction is told that nobody took up."""

    def __init__(self) -> None:
        super().__init__("the process that was to begin the transaction ended before it did", "Run this again")
