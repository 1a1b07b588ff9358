# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The weight of a slice that stands to the pods' weight as its CPUs stand to theirs.

On cgroup v2 kubelet gives kubepods a weight by its own linear formula, by which a CPU is 39, while a slice without a
weight has systemd's 100 (kubernetes#139790). On v1 kubelet writes shares, and systemd makes shares of a weight.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from ...module_utils.settings.weight_scales import WEIGHT_MAX, kubelet_weight, shares_of_milli_cpu, weight_of_shares
from ..facts.node_state import CgroupMode


def slice_weight(cpus: Fraction, mode: CgroupMode) -> int:
    """CPUWeight of a slice for which so many CPUs are reserved; thousandths are rounded up as kubelet does it."""
    shares = shares_of_milli_cpu(ceil(cpus * 1000))
    return kubelet_weight(shares) if mode is CgroupMode.V2 else min(WEIGHT_MAX, weight_of_shares(shares))
