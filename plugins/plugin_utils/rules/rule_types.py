# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules are and what they find: a finding is about a node as it is, a refusal about a planned change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..facts.node_state import NodeFacts

if TYPE_CHECKING:
    from ..plan.change_set import Refusal
    from ..plan.draft import PlanDraft


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Effect(str, Enum):
    """What a finding makes of the verdict."""

    NONE = "none"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    MISALIGNED = "misaligned"
    LATENT = "latent"


class Verdict(str, Enum):
    """LATENT: running values agree today, and the next restart or reboot would break them."""

    ALIGNED = "aligned"
    MISALIGNED = "misaligned"
    LATENT = "latent"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    code: str
    severity: Severity
    effect: Effect
    summary: str
    evidence: tuple[str, ...]
    remedy: str

    @property
    def link(self) -> str:
        """Where the collection's documentation explains it."""
        return f"docs/findings.md#{self.code}"


FindingRule = Callable[[NodeFacts], Iterator[Finding]]
"""One thing that can be wrong with a node."""


RefusalRule = Callable[["PlanDraft"], Iterator["Refusal"]]
"""One reason for which a planned change is not made."""

DefectFinding = tuple[Severity, Effect, str, str]
"""Severity, effect, summary and remedy of a finding about a defect of a runtime's files; ``{file}`` is its path."""


def start_failure(code: str, summary: str, evidence: tuple[str, ...], remedy: str) -> Finding:
    """Something over which kubelet exits when it starts the next time."""
    return Finding(code, Severity.ERROR, Effect.LATENT, summary, evidence, remedy)
