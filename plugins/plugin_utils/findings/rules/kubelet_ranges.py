# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers out of the range that kubelet takes. Source: pkg/kubelet/apis/config/validation/validation.go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import MEMORY_THROTTLING_FACTOR, READ_ONLY_PORT
from ..evidence import claims
from ..kubelet_values import value
from ..model import Finding, Rule
from .resource_managers import refused


def _number(found: Any) -> float | None:
    """A value that another rule has to judge is None."""
    if isinstance(found, bool) or not isinstance(found, (int, float, str)):
        return None
    try:
        return float(found)
    except ValueError:
        return None


def out_of_range(facts: NodeFacts) -> Iterator[Finding]:
    port = _number(value(facts, READ_ONLY_PORT.key))
    factor = _number(value(facts, MEMORY_THROTTLING_FACTOR.key))
    reasons = []
    if port is not None and not 0 <= port <= 65535:
        reasons.append((READ_ONLY_PORT, "not a port from 0 to 65535"))
    if factor is not None and not 0 < factor <= 1:
        reasons.append((MEMORY_THROTTLING_FACTOR, "not more than 0 and at most 1"))
    for field, reason in reasons:
        yield refused(
            "value-out-of-range",
            f"{field.key} is {reason}; kubelet does not start with it.",
            claims(facts, field.key),
            "Correct the value or delete it.",
        )


RULES: tuple[Rule, ...] = (out_of_range,)
