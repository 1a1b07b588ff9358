# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction that was cut off comes first: what else is to be done can be told only after it is undone."""

from __future__ import annotations

from ..facts.model import NodeFacts
from .model import Change, Plan

ENDS = {
    "undo": ("undone", "it is undone first, then the node is looked at again"),
    "finish": ("finished", "it goes on from the step where it ended, then the node is looked at again"),
    "stop": ("left as it is", "it is left as it is, and so is the node"),
}


def recovery_plan(facts: NodeFacts, recover: str) -> Plan | None:
    """The plan of a node with unfinished transactions; None for any other."""
    if not facts.unfinished_transactions:
        return None
    listed = ", ".join(facts.unfinished_transactions)
    end, consequence = ENDS[recover]
    reason = f"{listed} was cut off; {consequence}"
    return Plan(changes=(Change("transaction", "unfinished", listed, end, reason, frozenset()),))
