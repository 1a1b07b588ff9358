# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scales of CPU and IO weights. Several live on one node: compare the order of weights, not their numbers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

SHARES_MIN = 2
SHARES_MAX = 262144
BLKIO_MIN = 10
BLKIO_MAX = 1000


def _within(low: int, number: int, high: int) -> int:
    return max(low, min(number, high))


def shares_of_weight(weight: int) -> int:
    """cpu.shares of a weight: systemd src/core/cgroup.c cgroup_cpu_weight_to_shares."""
    return _within(SHARES_MIN, weight * 1024 // 100, SHARES_MAX)


def weight_of_shares(shares: int) -> int:
    """The smallest weight whose shares are at least these: the inverse of shares_of_weight for all that it gives."""
    return max(1, ceil(Fraction(shares * 100, 1024)))
