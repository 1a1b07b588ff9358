# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts of an earlier run that are still valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation.recording import Observed, Test
from ansible_collections.volcano.colocation.tests.tools.mutation.records import Record
from ansible_collections.volcano.colocation.tests.tools.mutation.results import Results
from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutant, Mutation
from ansible_collections.volcano.colocation.tests.tools.mutation.trial import (
    Outcome,
    Verdict,
    decided_by,
    relevant,
    within,
)

PATH = "plugins/x.py"
MUTANT = Mutant(Mutation(PATH, "core/NumberReplacer", 0, 1, 4), "x = 1\n", "x = 2\n")
OTHER = Mutant(Mutation(PATH, "core/NumberReplacer", 1, 1, 4), "x = 1\n", "x = 0\n")


def record(name: str, version: str = "1", seconds: float = 1, path: str = PATH) -> Record:
    observed = Observed(tests={f"{name}::test": Test(seconds, seconds)}, imported={path: "2"}, inputs={name: version})
    return Record(name, observed)


FOUND_BY_ONE = Verdict(Outcome.KILLED, "one::test", decided_by(relevant(MUTANT, [record("one")])), 1)


def survived(records: list[Record], budget: float) -> Verdict:
    return Verdict(Outcome.SURVIVED, "", decided_by(within(relevant(MUTANT, records), budget)), 1)


def found_later(path: Path, records: list[Record], budget: float = 10) -> bool:
    return Results(path, records, budget).find(MUTANT) is not None


def test_verdicts_are_kept(tmp_path: Path) -> None:
    results = Results(tmp_path / "results", [record("one")], 10)
    assert list(results.of([MUTANT, OTHER])) == []
    results.add(MUTANT, FOUND_BY_ONE)
    assert list(results.of([MUTANT, OTHER])) == [(MUTANT, FOUND_BY_ONE)]
    assert Results(tmp_path / "results", [record("one")], 10).find(MUTANT) == FOUND_BY_ONE


def test_the_last_verdict_counts(tmp_path: Path) -> None:
    for outcome in (Outcome.KILLED, Outcome.ENDLESS):
        verdict = Verdict(outcome, "", FOUND_BY_ONE.decided_by, 1)
        Results(tmp_path / "results", [], 10).add(MUTANT, verdict)
    assert Results(tmp_path / "results", [record("one")], 10).find(MUTANT) == verdict


def test_an_incomplete_line_loses_only_its_own_verdict(tmp_path: Path) -> None:
    path = tmp_path / "results"
    Results(path, [], 10).add(OTHER, FOUND_BY_ONE)
    path.write_text(path.read_text()[:-20])
    Results(path, [], 10).add(MUTANT, FOUND_BY_ONE)
    results = Results(path, [record("one")], 10)
    assert (results.find(OTHER), results.find(MUTANT)) == (None, FOUND_BY_ONE)


@pytest.mark.parametrize(
    ("later", "holds"),
    [
        ([record("one")], True),
        ([record("one"), record("two")], True),
        ([record("one", "2")], False),
        ([record("two")], False),
        ([record("one", path="plugins/other.py")], False),
    ],
)
def test_a_mutant_stays_found_while_its_test_is_the_same(tmp_path: Path, later: list[Record], holds: bool) -> None:
    Results(tmp_path / "results", [], 10).add(MUTANT, FOUND_BY_ONE)
    assert found_later(tmp_path / "results", later) == holds


@pytest.mark.parametrize(
    ("later", "holds"),
    [
        ([record("one")], True),
        ([record("one", "2")], False),
        ([record("one"), record("two")], False),
        ([record("one"), record("two", path="plugins/other.py")], True),
        ([record("one"), record("two", seconds=100)], True),
        ([], False),
    ],
)
def test_a_survivor_runs_again_where_tests_differ(tmp_path: Path, later: list[Record], holds: bool) -> None:
    Results(tmp_path / "results", [], 10).add(MUTANT, survived([record("one")], 10))
    assert found_later(tmp_path / "results", later) == holds


def test_a_larger_budget_lets_more_tests_run(tmp_path: Path) -> None:
    records = [record("one"), record("two", seconds=100)]
    Results(tmp_path / "results", [], 10).add(MUTANT, survived(records, 10))
    assert found_later(tmp_path / "results", records, budget=10)
    assert not found_later(tmp_path / "results", records, budget=1000)
