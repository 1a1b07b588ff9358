# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of stages keeps to the time that continuous integration has."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.run.stages import CPUS, STAGES, Stage, UnknownStageError, select

MINUTE = 60
TABLE = (Stage("one", 1, ()), Stage("two", 1, (), needs=("one",)), Stage("three", 1, ()))


def names(*chosen: str) -> list[str]:
    return [stage.name for stage in select(chosen, TABLE)]


def test_no_name_means_all() -> None:
    assert names() == ["one", "two", "three"]


def test_named_stages_run_in_the_order_of_the_table() -> None:
    assert names("three", "one") == ["one", "three"]


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownStageError, match=r"^no stage is called four; there are: one two three$"):
        select(["one", "four"], TABLE)


def test_what_a_stage_needs_runs_before_it() -> None:
    seen: set[str] = set()
    for stage in STAGES:
        assert set(stage.needs) <= seen
        seen.add(stage.name)


def on_the_clock(*chosen: str) -> float:
    """The seconds that stages take where no CPU is ever idle."""
    return sum(stage.share * stage.cpus for stage in STAGES if stage.name in chosen) / CPUS


def test_the_shares_fit_into_the_time_there_is() -> None:
    shares = {stage.name: stage.share for stage in STAGES}
    assert shares["lab"] <= 12 * MINUTE
    assert shares["scenarios"] <= 25 * MINUTE
    assert on_the_clock("lint", "units", "sanity", "units-matrix", "package") <= 18 * MINUTE
    assert on_the_clock(*shares) <= 84 * MINUTE


def test_no_stage_needs_more_than_there_is() -> None:
    assert all(0 < stage.cpus <= CPUS for stage in STAGES)
