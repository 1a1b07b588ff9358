# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of this collection on a node: what was cut off, and which of them cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...module_utils.snapshot.record_evidence import (
    BLOCKING,
    DIRECTORY,
    IMAGES,
    JOURNAL,
    ORIGINAL,
    SETTINGS,
    TRANSACTION_RESULT,
)
from ..facts.node_state import NodeFacts, RecordProblem
from ..plan.change_set import Refusal
from .rule_types import Effect, Finding, Severity


def unfinished_transaction(facts: NodeFacts) -> Iterator[Finding]:
    if facts.unfinished_transactions:
        yield Finding(
            "unfinished-transaction",
            Severity.ERROR,
            Effect.MISALIGNED,
            "A transaction of this collection is at work here, or was cut off.",
            facts.unfinished_transactions,
            "The next provision undoes what was cut off before it looks at the node again; colocation_recover has it"
            " finished instead, or left as it is.",
        )


LEDGER = "ledger"


BY_HAND = "Put the file right from a backup, or move it away."


@dataclass(frozen=True)
class Consequence:
    """What nobody can tell, or do, until a record can be read again."""

    text: str
    severity: Severity = Severity.WARNING
    effect: Effect = Effect.NONE


HALF_DONE = "whether a change was cut off here cannot be told, and every change of services is refused"


CONSEQUENCES: Mapping[str, Consequence] = {
    DIRECTORY: Consequence(HALF_DONE, Severity.ERROR, Effect.UNKNOWN),
    JOURNAL: Consequence(HALF_DONE, Severity.ERROR, Effect.UNKNOWN),
    LEDGER: Consequence("every change of services is refused, and node_restore puts nothing back"),
    ORIGINAL: Consequence("node_restore puts nothing back"),
    TRANSACTION_RESULT: Consequence("node_restore puts nothing back"),
    SETTINGS: Consequence("cgroup_qos and node_restore change no cgroup, and no setting is applied again at boot"),
    IMAGES: Consequence("agent_image imports and removes no image"),
}
"""Of a record that only a later version knows, nothing is said but what the node said."""


UNKNOWN = Consequence("what needs it is refused")


def blocking(facts: NodeFacts) -> tuple[RecordProblem, ...]:
    """Those behind which a change may lie that was cut off: the node is left as it is, whatever it should be."""
    return tuple(each for each in facts.record_problems if each.record in BLOCKING)


def record_unreadable(facts: NodeFacts) -> Iterator[Finding]:
    for problem in _problems(facts):
        consequence = CONSEQUENCES.get(problem.record, UNKNOWN)
        yield Finding(
            "record-unreadable",
            consequence.severity,
            consequence.effect,
            f"{problem.file} cannot be relied on: {consequence.text}.",
            (f"{problem.file}: {problem.message}",),
            f"{problem.remedy.rstrip('.')}." if problem.remedy else BY_HAND,
        )


def _problems(facts: NodeFacts) -> Iterator[RecordProblem]:
    yield from facts.record_problems
    ledger, named = facts.ledger_problem, {each.file for each in facts.record_problems}
    if ledger is not None and ledger.file not in named:
        yield RecordProblem(LEDGER, ledger.file, ledger.message, ledger.remedy)


def ledger_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For a node that something is to be changed on; one that is as it should be needs no ledger."""
    found = facts.ledger_problem
    return (Refusal("ledger-unreadable", found.message, found.remedy, file=found.file),) if found else ()


def journal_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For every node: what was cut off may have left it half changed, and would have to be undone first."""
    return tuple(Refusal("journal-unreadable", each.message, each.remedy, file=each.file) for each in blocking(facts))
