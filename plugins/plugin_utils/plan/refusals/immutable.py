# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node is refused whose files cannot be changed, or belong to the manager of its system."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings.model import Effect
from ...findings.rules import immutable
from ..draft import PlanDraft
from ..model import Refusal
from .model import Rule


def _immutable(draft: PlanDraft) -> Iterator[Refusal]:
    for rule in immutable.RULES:
        for found in rule(draft.facts):
            if found.effect is Effect.UNSUPPORTED:
                yield Refusal(found.code, found.summary.rstrip("."), found.remedy)


RULES: tuple[Rule, ...] = (_immutable,)
