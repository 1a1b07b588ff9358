# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scales of CPU and IO weights. A node uses several: compare the order of weights, not their numbers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

SHARES_MIN = 2
SHARES_MAX = 262144
WEIGHT_MAX = 10000
BLKIO_MIN = 10
BLKIO_MAX = 1000
BFQ_MAX = 1000
DEFAULT = 100
"""The default CPU and IO weight, with BFQ as well."""


def _within(low: int, number: int, high: int) -> int:
    return max(low, min(number, high))


def shares_of_milli_cpu(milli_cpu: int) -> int:
    """kubelet's cpu.shares for a CPU request: pkg/kubelet/cm/helpers_linux.go MilliCPUToShares."""
    return _within(SHARES_MIN, milli_cpu * 1024 // 1000, SHARES_MAX)


def kubelet_weight(shares: int) -> int:
    """kubelet's cpu.weight of its cgroups, down to the pod: pkg/kubelet/cm/cgroup_manager_linux.go getCPUWeight.

    runc up to 1.3.1 and crun up to 1.22 compute the weight of containers in the same way.
    """
    return 1 + (shares - SHARES_MIN) * 9999 // 262142


def shares_of_kubelet_weight(weight: int) -> int:
    """The inverse of kubelet_weight: pkg/kubelet/cm/cgroup_v2_manager_linux.go cpuWeightToCPUShares."""
    return (weight - 1) * 262142 // 9999 + SHARES_MIN


def runtime_weight(shares: int) -> int:
    """The cpu.weight of a container under runc from 1.3.2 and crun from 1.23.

    Source: opencontainers/cgroups utils.go ConvertCPUSharesToCgroupV2Value, crun src/libcrun/cgroup-utils.c.
    """
    if shares <= SHARES_MIN:
        return 1
    if shares >= SHARES_MAX:
        return WEIGHT_MAX
    power = log2(shares)
    return ceil(10 ** ((power * power + 125 * power) / 612 - 7 / 34))


def systemd_weight(shares: int) -> int:
    """systemd src/core/cgroup.c cgroup_cpu_shares_to_weight."""
    return _within(1, shares * 100 // 1024, WEIGHT_MAX)


def shares_of_weight(weight: int) -> int:
    """systemd src/core/cgroup.c cgroup_cpu_weight_to_shares; the kernel converts a weight in the same way."""
    return _within(SHARES_MIN, weight * 1024 // 100, SHARES_MAX)


def weight_of_shares(shares: int) -> int:
    """The smallest weight with at least these shares: the inverse of shares_of_weight for each of its results."""
    return max(1, ceil(Fraction(shares * 100, 1024)))


def bfq_of_io_weight(weight: int) -> int:
    """systemd src/basic/cgroup-util.h BFQ_WEIGHT: the same up to 100; 100 to 10000 is scaled to 100 to 1000."""
    return weight if weight <= DEFAULT else DEFAULT + (weight - DEFAULT) * (BFQ_MAX - DEFAULT) // (WEIGHT_MAX - DEFAULT)


def io_weight_of_bfq(bfq: int) -> int:
    """The smallest IO weight with this BFQ weight."""
    return bfq if bfq <= DEFAULT else DEFAULT + (bfq - DEFAULT) * (WEIGHT_MAX - DEFAULT) // (BFQ_MAX - DEFAULT)


def blkio_of_io_weight(weight: int) -> int:
    """systemd src/core/cgroup.c cgroup_weight_io_to_blkio: the default of blkio.weight is 500."""
    return _within(BLKIO_MIN, weight * 500 // 100, BLKIO_MAX)


def io_weight_of_blkio(blkio: int) -> int:
    """The smallest IO weight with at least this CFQ weight."""
    return max(1, ceil(Fraction(blkio, 5)))
