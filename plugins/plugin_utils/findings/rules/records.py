# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about what this collection keeps on a node for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....module_utils.snapshot.record_evidence import ANSWER, BLOCKING, DIRECTORY, IMAGES, JOURNAL, ORIGINAL, SETTINGS
from ...facts.node_state import NodeFacts, RecordProblem
from ..model import Effect, Finding, Rule, Severity

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
    ANSWER: Consequence("node_restore puts nothing back"),
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


RULES: tuple[Rule, ...] = (record_unreadable,)
