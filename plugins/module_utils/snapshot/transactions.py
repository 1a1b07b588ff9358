# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about our own earlier work on the node."""

from __future__ import annotations

from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..transaction import ledger
from ..transaction.journal import unfinished
from ..transaction.store import Store


def unfinished_transactions(host: Host) -> list[str]:
    """Ids of transactions that changed something and have not ended: at work this moment, or cut off."""
    return [journal.id for journal in unfinished(Store(host))]


def ledger_problem(host: Host) -> dict[str, Any] | None:
    """Why the ledger cannot be read, which stops every transaction before it begins; None where nothing does."""
    try:
        ledger.load(Store(host))
    except ColocationError as error:
        return {"file": error.file, "message": error.message, "remedy": error.remedy}
    return None
