# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shares of `make test` fit into its time limit."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.run.stages import Stage
from ansible_collections.volcano.colocation.tests.run.suites import (
    LIMIT_COLD,
    LIMIT_WARM,
    SUITES,
    Suite,
    duration,
    find,
)

BUILD = Stage("build", 3600, (), warm=60)
NODES = Stage("nodes", 1800, (), needs=("build",))


def test_the_shares_fit_with_empty_caches() -> None:
    assert find("test").cold <= LIMIT_COLD


def test_the_shares_fit_with_filled_caches() -> None:
    assert find("test").warm <= LIMIT_WARM


def test_builds_count_where_their_cache_is_empty() -> None:
    suite = Suite("some", "", (BUILD, NODES))
    assert (suite.cold, suite.warm) == (5400, 1860)
    assert duration(suite) == "90 min, 31 min with filled caches"


def test_a_duration_that_caches_do_not_change() -> None:
    assert duration(Suite("some", "", (NODES,))) == "30 min"


@pytest.mark.parametrize(("seconds", "text"), [(90 * 60, "90 min"), (3 * 3600, "3 h"), (20, "1 min")])
def test_the_duration_of_a_command_without_stages_is_spelled_by_its_seconds(seconds: int, text: str) -> None:
    assert duration(Suite("some", "", seconds=seconds)) == text


def test_names_are_unique() -> None:
    assert len({suite.name for suite in SUITES}) == len(SUITES)
