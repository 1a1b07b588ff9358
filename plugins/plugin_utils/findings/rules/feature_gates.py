# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about feature gates: only of those that other rules know anything is said."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import FEATURE_GATES
from ...releases import kubelet_gates
from ...releases.versions import minor
from ..evidence import claims
from ..kubelet_values import table
from ..model import Finding, Rule
from .resource_managers import refused


def gates_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    reasons = tuple(kubelet_gates.gate_problems(table(facts, FEATURE_GATES.key), version)) if version else ()
    if reasons:
        yield refused(
            "feature-gates-refused",
            "kubelet does not start with these featureGates.",
            (*reasons, *claims(facts, FEATURE_GATES.key)),
            "Take them out of featureGates.",
        )


RULES: tuple[Rule, ...] = (gates_refused,)
