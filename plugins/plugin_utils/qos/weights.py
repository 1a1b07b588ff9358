# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU weight of a slice that stands to the pods' weight as its CPUs stand to theirs.

On cgroup v2 kubelet gives kubepods a weight by its own linear formula (pkg/kubelet/cm/cgroup_manager_linux.go,
cpuSharesToCPUWeight), by which a CPU is 39, while a slice without a weight has systemd's 100 (kubernetes#139790).
On v1 kubelet writes shares, and systemd makes shares of a weight (src/core/cgroup.c).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

LEAST_SHARES, MOST_SHARES = 2, 262144
LEAST_WEIGHT, MOST_WEIGHT = 1, 10000


def milli(cpus: Fraction) -> int:
    """Thousandths of a CPU, rounded up as a Kubernetes quantity is (resource.Quantity.MilliValue)."""
    return ceil(cpus * 1000)


def shares(millicpu: int) -> int:
    """kubelet's cpu.shares, pkg/kubelet/cm/helpers_linux.go MilliCPUToShares."""
    return min(MOST_SHARES, max(LEAST_SHARES, millicpu * 1024 // 1000))


def weight_on_v2(millicpu: int) -> int:
    return 1 + (shares(millicpu) - LEAST_SHARES) * (MOST_WEIGHT - LEAST_WEIGHT) // (MOST_SHARES - LEAST_SHARES)


def weight_on_v1(millicpu: int) -> int:
    """The weight of which systemd makes the shares that kubelet would write."""
    nearest = (shares(millicpu) * 100 + 512) // 1024
    return min(MOST_WEIGHT, max(LEAST_WEIGHT, nearest))
