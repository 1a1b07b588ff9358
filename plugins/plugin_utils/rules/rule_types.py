# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of rules and their results: a finding is about the current node, a refusal about a planned change."""

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
    """The verdict that a finding leads to."""

    NONE = "none"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    MISALIGNED = "misaligned"
    LATENT = "latent"


class Verdict(str, Enum):
    """LATENT: running values agree now, but the next restart or reboot will break them."""

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
        """The section of the documentation that explains the code."""
        return f"docs/findings.md#{self.code}"


FindingRule = Callable[[NodeFacts], Iterator[Finding]]
"""Checks a node for one kind of problem."""


RefusalRule = Callable[["PlanDraft"], Iterator["Refusal"]]
"""Checks a planned change for one reason to refuse it."""

DefectFinding = tuple[Severity, Effect, str, str]
"""Severity, effect, summary and remedy of a finding about a defect of a runtime's files; ``{file}`` is its path."""


def start_failure(code: str, summary: str, evidence: tuple[str, ...], remedy: str) -> Finding:
    """A problem that makes kubelet exit at its next start."""
    return Finding(code, Severity.ERROR, Effect.LATENT, summary, evidence, remedy)
