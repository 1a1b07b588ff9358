# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of stages are consistent."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT
from ansible_collections.volcano.colocation.tests.run.stages import (
    CPUS,
    LONG,
    MATRIX,
    STAGES,
    Stage,
    UnknownStageError,
    select,
)

TABLES = (STAGES, MATRIX, LONG)
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


@pytest.mark.parametrize("table", TABLES, ids=["test", "test-matrix", "test-long"])
def test_a_needed_stage_comes_first_in_the_table(table: tuple[Stage, ...]) -> None:
    earlier: set[str] = set()
    for stage in table:
        assert set(stage.needs) <= earlier
        earlier.add(stage.name)


def test_no_stage_needs_more_cpus_than_there_are() -> None:
    assert all(0 < stage.cpus <= stage.burst <= CPUS for table in TABLES for stage in table)


def test_every_stage_has_a_share_a_purpose_and_a_name_of_its_own() -> None:
    for table in TABLES:
        assert all(stage.share > 0 and stage.proves and stage.commands for stage in table)
        assert len({stage.name for stage in table}) == len(table)


def test_every_path_that_a_command_names_exists() -> None:
    words = [word for table in TABLES for stage in table for command in stage.commands for word in command]
    paths = [word.removeprefix("--ignore=") for word in words]
    named = {path for path in paths if path.startswith(("tests/", "plugins/"))}
    assert "tests/unit" in named
    assert {path for path in named if not (CHECKOUT / path).exists()} == set()
