# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rule says of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from ..facts.node_state import NodeFacts


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


Rule = Callable[[NodeFacts], Iterator[Finding]]
"""One thing that can be wrong with a node."""
