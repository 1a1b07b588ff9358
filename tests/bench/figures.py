# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of repeated runs: pure functions on numbers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some values with the lowest and the highest of them."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"


def spread(values: Sequence[float]) -> Spread:
    """The Spread of at least one value."""
    return Spread(statistics.median(values), min(values), max(values))


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """The Spread of round-by-round ratios: a temporary load on the machine affects both commands of a round."""
    return spread([above / below for above, below in zip(numerators, denominators, strict=True)])
