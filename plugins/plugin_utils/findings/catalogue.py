# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules, in the order in which their findings are shown: what makes a node unreadable comes first."""

from __future__ import annotations

from ..facts.model import NodeFacts
from .model import Finding, Rule
from .rules import cgroup, checkpoint, config, driver, kubelet, node, resource_managers, services

RULES: tuple[Rule, ...] = (
    *node.RULES,
    *config.RULES,
    *services.RULES,
    *driver.RULES,
    *kubelet.RULES,
    *resource_managers.RULES,
    *checkpoint.RULES,
    *cgroup.RULES,
)


def findings(facts: NodeFacts) -> tuple[Finding, ...]:
    """All findings of a node, in the order of the rules."""
    return tuple(found for rule in RULES for found in rule(facts))
