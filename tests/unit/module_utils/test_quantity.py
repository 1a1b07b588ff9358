# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities and CPU lists."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.quantity import (
    format_bytes,
    format_cpu_list,
    parse_cpu_list,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500m", Fraction(1, 2)),
        ("2", Fraction(2)),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("1.5Gi", Fraction(3 * 2**29)),
        ("1k", Fraction(1000)),
        ("1Ki", Fraction(1024)),
        ("1M", Fraction(10**6)),
        ("1E", Fraction(10**18)),
        ("1Ei", Fraction(2**60)),
        ("1e3", Fraction(1000)),
        ("5E-1", Fraction(1, 2)),
        ("-1", Fraction(-1)),
        ("100n", Fraction(1, 10**7)),
    ],
)
def test_quantities_are_read_exactly(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "half", "1 CPU", "1KI", "1mm", "0x10", "1.2.3", "Gi"])
def test_a_text_that_is_not_a_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a Kubernetes quantity"):
        parse_quantity(text)


@given(st.frozensets(st.integers(min_value=0, max_value=300)))
def test_cpu_lists_round_trip(cpus: frozenset[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == cpus


def test_a_cpu_list_is_as_short_as_can_be() -> None:
    assert format_cpu_list(frozenset({0, 1, 2, 5, 7, 8})) == "0-2,5,7-8"


@pytest.mark.parametrize("text", ["a", "1-", "-1", "3-1", "0-1-2", "0x1"])
def test_no_cpu_lists(text: str) -> None:
    with pytest.raises(ValueError, match="is not a CPU list"):
        parse_cpu_list(text)


def test_no_list_or_quantity_exhausts_the_controller() -> None:
    with pytest.raises(ValueError, match="CPU 99999999999 does not exist"):
        parse_cpu_list("0-99999999999")
    with pytest.raises(ValueError, match="is not a Kubernetes quantity"):
        parse_quantity("1e999999999")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (1000, "1000"),
        (1024, "1Ki"),
        (4097, "4097"),
        (1536 * 2**20, "1536Mi"),
        (2**30, "1Gi"),
        (3 * 2**60, "3Ei"),
        (2**70, "1024Ei"),
    ],
)
def test_bytes_are_spelled_in_binary_units(count: int, text: str) -> None:
    assert format_bytes(count) == text


@given(st.integers(min_value=0, max_value=2**63))
def test_bytes_in_words_are_exact(count: int) -> None:
    assert parse_quantity(format_bytes(count)) == count
