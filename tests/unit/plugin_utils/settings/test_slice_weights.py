# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slice's weight: kubelet's linear formula on v2, systemd's shares on v1. The values were computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupMode
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.reserved_slices import slice_weight


@pytest.mark.parametrize(
    ("cpus", "on_v2", "on_v1"),
    [
        # Shares are CPUs * 1024. v2: 1 + (shares - 2) * 9999 / 262142; v1: the first w with w * 1024 / 100 >= shares.
        ("0.1", 4, 10),
        ("0.25", 10, 25),
        ("0.5", 20, 50),
        ("1", 39, 100),
        ("2", 79, 200),
        ("4", 157, 400),
        ("16", 625, 1600),
        ("64", 2500, 6400),
        ("256", 10000, 25600),
    ],
)
def test_reserved_cpus_become_a_weight_by_the_scale_of_the_version(cpus: str, on_v2: int, on_v1: int) -> None:
    assert slice_weight(Fraction(cpus), CgroupMode.V2) == on_v2
    assert slice_weight(Fraction(cpus), CgroupMode.V1) == min(on_v1, 10000)
    assert slice_weight(Fraction(cpus), CgroupMode.HYBRID) == min(on_v1, 10000)


def test_a_part_of_a_thousandth_counts_as_one() -> None:
    # 25.4m is 26m: 26 shares, 1 + 24 * 9999 / 262142 = 1.9; on v1 26 * 100 / 1024 = 2.5
    assert slice_weight(Fraction("0.0254"), CgroupMode.V2) == 1
    assert slice_weight(Fraction("0.0254"), CgroupMode.V1) == 3


def test_no_slice_gets_more_than_systemd_takes() -> None:
    assert slice_weight(Fraction(1000), CgroupMode.V2) == 10000
    assert slice_weight(Fraction(1000), CgroupMode.V1) == 10000
