# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scales of weights, compared with tables of their authors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.settings.weight_scales import (
    bfq_of_io_weight,
    blkio_of_io_weight,
    io_weight_of_bfq,
    io_weight_of_blkio,
    kubelet_weight,
    runtime_weight,
    shares_of_kubelet_weight,
    shares_of_milli_cpu,
    shares_of_weight,
    systemd_weight,
    weight_of_shares,
)

# milli-CPU, kubelet's shares, weight by kubelet, by runc 1.3.2 and crun 1.23, by systemd and the kernel.
# kubernetes blog 2026-01-30 (new cpu.shares to cpu.weight conversion), opencontainers/cgroups utils_test.go.
TABLE = [
    (0, 2, 1, 1, 1),
    (10, 10, 1, 4, 1),
    (100, 102, 4, 17, 9),
    (250, 256, 10, 35, 25),
    (500, 512, 20, 59, 50),
    (1000, 1024, 39, 100, 100),
    (2000, 2048, 79, 174, 200),
    (4000, 4096, 157, 303, 400),
    (8000, 8192, 313, 532, 800),
    (16000, 16384, 625, 942, 1600),
    (64000, 65536, 2500, 3023, 6400),
    (256000, 262144, 10000, 10000, 10000),
]


@pytest.mark.parametrize(("milli_cpu", "shares", "kubelet", "runtime", "systemd"), TABLE)
def test_one_request_has_a_weight_on_each_scale(
    milli_cpu: int, shares: int, kubelet: int, runtime: int, systemd: int
) -> None:
    assert shares_of_milli_cpu(milli_cpu) == shares
    assert kubelet_weight(shares) == kubelet
    assert runtime_weight(shares) == runtime
    assert systemd_weight(shares) == systemd


def test_shares_have_bounds() -> None:
    assert shares_of_milli_cpu(1) == 2
    assert shares_of_milli_cpu(10**6) == 262144


@pytest.mark.parametrize(("weight", "shares"), [(1, 2), (2, 28), (39, 998), (100, 2597), (10000, 262144)])
def test_shares_of_kubelets_weight(weight: int, shares: int) -> None:
    """By hand: (weight - 1) * 262142 / 9999 + 2."""
    assert shares_of_kubelet_weight(weight) == shares


@pytest.mark.parametrize(
    ("weight", "shares"), [(1, 10), (10, 102), (50, 512), (100, 1024), (200, 2048), (10000, 102400)]
)
def test_systemd_converts_a_weight_to_shares(weight: int, shares: int) -> None:
    assert shares_of_weight(weight) == shares
    assert weight_of_shares(shares) == weight


@pytest.mark.parametrize(("shares", "weight"), [(2, 1), (100, 10), (998, 98), (262144, 25600)])
def test_shares_without_a_whole_weight_are_rounded_up(shares: int, weight: int) -> None:
    assert weight_of_shares(shares) == weight


@pytest.mark.parametrize(("weight", "bfq"), [(1, 1), (100, 100), (101, 100), (111, 101), (1000, 181), (10000, 1000)])
def test_bfq_weights_are_scaled(weight: int, bfq: int) -> None:
    assert bfq_of_io_weight(weight) == bfq


@pytest.mark.parametrize(("weight", "blkio"), [(1, 10), (2, 10), (3, 15), (100, 500), (200, 1000), (10000, 1000)])
def test_cfq_weights_are_scaled(weight: int, blkio: int) -> None:
    assert blkio_of_io_weight(weight) == blkio


@given(weight=st.integers(1, 10000))
def test_conversions_back_and_forth_are_stable(weight: int) -> None:
    shares, bfq, blkio = shares_of_weight(weight), bfq_of_io_weight(weight), blkio_of_io_weight(weight)
    assert shares_of_weight(weight_of_shares(shares)) == shares
    assert bfq_of_io_weight(io_weight_of_bfq(bfq)) == bfq
    assert blkio_of_io_weight(io_weight_of_blkio(blkio)) == blkio
    assert weight_of_shares(shares) == weight


@given(one=st.integers(2, 262144), other=st.integers(2, 262144))
def test_every_scale_keeps_the_order(one: int, other: int) -> None:
    if one > other:
        one, other = other, one
    for scale in (kubelet_weight, runtime_weight, systemd_weight, weight_of_shares):
        assert scale(one) <= scale(other)
