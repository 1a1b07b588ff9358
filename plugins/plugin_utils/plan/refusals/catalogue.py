# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All reasons for which a node is refused before anything changes."""

from __future__ import annotations

from ..change_set import Refusal
from ..draft import PlanDraft
from . import immutable, kubeadm, kubelet, layout, node, runtime
from .model import Rule

RULES: tuple[Rule, ...] = (
    *immutable.RULES,
    *node.RULES,
    *layout.RULES,
    *kubeadm.RULES,
    *kubelet.RULES,
    *runtime.RULES,
)


def refusals(draft: PlanDraft, rules: tuple[Rule, ...] = RULES) -> tuple[Refusal, ...]:
    """All reasons at once, so that one run tells everything that has to be put right."""
    return tuple(found for rule in rules for found in rule(draft))
