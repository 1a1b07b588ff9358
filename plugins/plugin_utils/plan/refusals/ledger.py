# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why nothing is begun: the engine enters what it changes in records, and refuses where it cannot read them."""

from __future__ import annotations

from ...facts.node_state import NodeFacts
from ...findings.rules.records import blocking
from ..change_set import Refusal


def ledger_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For a node that something is to be changed on; one that is as it should be needs no ledger."""
    found = facts.ledger_problem
    return (Refusal("ledger-unreadable", found.message, found.remedy, file=found.file),) if found else ()


def journal_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For every node: what was cut off may have left it half changed, and would have to be undone first."""
    return tuple(Refusal("journal-unreadable", each.message, each.remedy, file=each.file) for each in blocking(facts))
