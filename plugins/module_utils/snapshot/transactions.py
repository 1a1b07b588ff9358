# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about our own earlier work on the node."""

from __future__ import annotations

from ..host import Host
from ..transaction.journal import unfinished
from ..transaction.store import Store


def unfinished_transactions(host: Host) -> list[str]:
    """Ids of transactions that changed something and have not ended: at work this moment, or cut off."""
    return [journal.id for journal in unfinished(Store(host))]
