# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about our own earlier work on the node."""

from __future__ import annotations

from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..transaction import ledger
from ..transaction.journal import ENDS, Journal
from ..transaction.store import Store


def unfinished_transactions(host: Host) -> list[str]:
    """Ids of transactions that changed something and have not ended: at work this moment, or cut off.

    Those whose journal cannot be read are among records.record_problems.
    """
    try:
        store = Store(host)
        return [transaction for transaction in reversed(store.transactions()) if _is_unfinished(store, transaction)]
    except ColocationError:
        return []


def _is_unfinished(store: Store, transaction: str) -> bool:
    try:
        journal = Journal.load(store, transaction)
    except ColocationError:
        return False
    return journal is not None and journal.state not in ENDS


def ledger_problem(host: Host) -> dict[str, Any] | None:
    """Why the ledger cannot be read, which stops every transaction before it begins; None where nothing does."""
    try:
        ledger.load(Store(host))
    except ColocationError as error:
        return {"file": error.file, "message": error.message, "remedy": error.remedy}
    return None
