# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random choices that are the same in each run and on each release of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Choices from a seed. Uses only ``random()``, for which Python guarantees the same numbers on every release."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - test data

    def happens(self, often: float) -> bool:
        """True in ``often`` of all cases, from 0 to 1."""
        return self._random.random() < often

    def below(self, limit: int) -> int:
        """A number from 0 up to, without, ``limit``."""
        return int(self._random.random() * limit)

    def one(self, values: Sequence[T]) -> T:
        """One of the values, with equal probability."""
        return values[self.below(len(values))]
