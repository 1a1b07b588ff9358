# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends abandoned transactions, and deletes their plans, which contain file contents.

A transaction is abandoned if its module was killed before an engine started, or if its engine ended for good before
the journal was created or after it was complete. Such a transaction has no changes to roll back.
"""

from __future__ import annotations

import os

from ..errors import ColocationError
from ..state.journal import ENDS, Journal
from ..state.store import RESULT, Store
from .context import Report, error_message, refusal_result

ABANDONED_AFTER = 900.0
"""Seconds after which no module can still begin the transaction, and no controller still asks for its result.
A controller that lost its connection asks for five minutes (plugin_utils/node/transport.py)."""


def end_abandoned(store: Store, now: float, report: Report, own: str = "") -> None:
    """Write a result for each abandoned transaction except ``own``, and delete its plan. The caller holds the lock.

    With the result, a late engine or controller reports that nothing was changed, and does not begin.
    """
    for transaction in store.transactions():
        try:
            if transaction != own and store.exists(transaction):
                _end(store, transaction, now, report)
        except (ColocationError, OSError) as error:
            report(f"{transaction}: {error_message(error)}")


def is_abandoned(store: Store, transaction: str, now: float) -> bool:
    """Whether it has no result, no open changes, and was not modified for ABANDONED_AFTER seconds."""
    if store.read(transaction, RESULT) is not None or now - os.stat(store.path(transaction)).st_mtime < ABANDONED_AFTER:
        return False
    journal = Journal.load(store, transaction)
    return journal is None or journal.state in ENDS


def _end(store: Store, transaction: str, now: float, report: Report) -> None:
    if store.read(transaction, RESULT) is not None:
        # Killed after the result was written and before the plan was deleted.
        store.drop(transaction)
    elif is_abandoned(store, transaction, now):
        journal = Journal.load(store, transaction)
        report(f"{transaction} was abandoned: " + ("it had ended" if journal else "it never began"))
        result = journal.result() if journal else refusal_result(transaction, "begin", NeverStarted(), None)
        store.finish(transaction, result)


class NeverStarted(ColocationError):
    """The error of a transaction that no engine began."""

    def __init__(self) -> None:
        super().__init__(
            "the process that should begin the transaction ended before the transaction began", "Run this again"
        )
