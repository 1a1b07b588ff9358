# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction that was cut off comes first: what else is to be done can be told only after it is undone."""

from __future__ import annotations

from ..facts.model import NodeFacts
from .model import Change, Plan


def recovery_plan(facts: NodeFacts) -> Plan | None:
    """The plan of a node with unfinished transactions; None for any other."""
    if not facts.unfinished_transactions:
        return None
    listed = ", ".join(facts.unfinished_transactions)
    reason = f"{listed} was cut off; it is undone first, then the node is looked at again"
    return Plan(changes=(Change("transaction", "unfinished", listed, "undone", reason, frozenset()),))
