# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of this collection on a node: interrupted transactions, and records that cannot be read."""

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
            "A transaction of this collection is running on the node, or was interrupted.",
            tuple(f"transaction {identity}" for identity in facts.unfinished_transactions),
            "The next provision rolls back an interrupted transaction before it reads the node again;"
            " colocation_recover completes it instead, or leaves it unchanged.",
        )


LEDGER = "ledger"


BY_HAND = "Restore the file from a backup, or move it elsewhere."


@dataclass(frozen=True)
class Consequence:
    """What is unknown or refused until a record can be read again."""

    text: str
    severity: Severity = Severity.WARNING
    effect: Effect = Effect.NONE


INTERRUPTED = "whether a transaction was interrupted is unknown, and every change of services is refused"


CONSEQUENCES: Mapping[str, Consequence] = {
    DIRECTORY: Consequence(INTERRUPTED, Severity.ERROR, Effect.UNKNOWN),
    JOURNAL: Consequence(INTERRUPTED, Severity.ERROR, Effect.UNKNOWN),
    LEDGER: Consequence("every change of services is refused, and node_restore restores nothing"),
    ORIGINAL: Consequence("node_restore restores nothing"),
    TRANSACTION_RESULT: Consequence("node_restore restores nothing"),
    SETTINGS: Consequence("cgroup_qos and node_restore change no cgroup, and no setting is applied again at boot"),
    IMAGES: Consequence("agent_image neither imports nor removes an image"),
}
"""By record. For a record that only a later version knows, only the node's own message is reported."""


UNKNOWN = Consequence("operations that need it are refused")


def blocking(facts: NodeFacts) -> tuple[RecordProblem, ...]:
    """Problems that may hide an interrupted transaction: the node is not changed, whatever the profile says."""
    return tuple(problem for problem in facts.record_problems if problem.record in BLOCKING)


def record_unreadable(facts: NodeFacts) -> Iterator[Finding]:
    for problem in _problems(facts):
        consequence = CONSEQUENCES.get(problem.record, UNKNOWN)
        yield Finding(
            "record-unreadable",
            consequence.severity,
            consequence.effect,
            f"{problem.file} cannot be used: {consequence.text}.",
            (f"{problem.file}: {problem.message}",),
            f"{problem.remedy.rstrip('.')}." if problem.remedy else BY_HAND,
        )


def _problems(facts: NodeFacts) -> Iterator[RecordProblem]:
    yield from facts.record_problems
    ledger, named = facts.ledger_problem, {problem.file for problem in facts.record_problems}
    if ledger is not None and ledger.file not in named:
        yield RecordProblem(LEDGER, ledger.file, ledger.message, ledger.remedy)


def ledger_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For a node with planned changes; without changes the ledger is not needed."""
    problem = facts.ledger_problem
    return (Refusal("ledger-unreadable", problem.message, problem.remedy, file=problem.file),) if problem else ()


def journal_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For every node: an interrupted transaction may have changed it partly and must be rolled back first."""
    return tuple(
        Refusal("journal-unreadable", problem.message, problem.remedy, file=problem.file) for problem in blocking(facts)
    )
