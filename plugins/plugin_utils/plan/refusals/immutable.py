# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node is refused whose files cannot be changed, or belong to the manager of its system."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...findings.model import Effect
from ...findings.rules import immutable
from ..change_set import Refusal
from ..draft import PlanDraft
from .model import Rule


def immutable_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """Of every module whose change is a transaction: that needs the engine, its unit and the journal."""
    return tuple(_refused(facts))


def _immutable(draft: PlanDraft) -> Iterator[Refusal]:
    return _refused(draft.facts)


def _refused(facts: NodeFacts) -> Iterator[Refusal]:
    for rule in immutable.RULES:
        for found in rule(facts):
            if found.effect is Effect.UNSUPPORTED:
                yield Refusal(found.code, found.summary.rstrip("."), found.remedy)


RULES: tuple[Rule, ...] = (_immutable,)
