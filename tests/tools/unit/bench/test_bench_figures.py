# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Medians and ratios."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.bench.figures import Spread, ratios, spread


def test_a_spread_is_the_median_between_the_extremes() -> None:
    assert spread([5.0, 1.0, 2.0]) == Spread(median=2.0, low=1.0, high=5.0)


def test_a_spread_of_one_value_shows_it_three_times() -> None:
    assert str(spread([1.0])) == "1.00 (1.00–1.00)"


def test_ratios_are_taken_round_by_round() -> None:
    """The slow round slows both; the ratio of the separate medians would be 4/3."""
    assert ratios([2.0, 40.0, 4.0], [1.0, 20.0, 3.0]) == Spread(median=2.0, low=4 / 3, high=2.0)


def test_rounds_have_to_match() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        ratios([1.0, 2.0], [1.0])
