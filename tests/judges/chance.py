# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chance that falls the same way in each run and on each release of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Of a seed. Only ``random()`` is used: it alone is promised to give the same numbers on every Python."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - test data

    def happens(self, often: float) -> bool:
        """True in ``often`` of all cases, from 0 to 1."""
        return self._random.random() < often

    def below(self, limit: int) -> int:
        """A number from 0 up to, without, ``limit``."""
        return int(self._random.random() * limit)

    def one(self, values: Sequence[T]) -> T:
        """One of them, each as often as any other."""
        return values[self.below(len(values))]
