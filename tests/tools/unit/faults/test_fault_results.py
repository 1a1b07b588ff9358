# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that was cut off goes on with the rows that have no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict, parse_outcome
from ansible_collections.volcano.colocation.tests.faults.results import Results
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS

FIRST, SECOND, THIRD = ROWS[:3]


@pytest.fixture(name="results")
def _results(tmp_path: Path) -> Results:
    return Results(tmp_path / "new" / "results.jsonl", "code")


def outcome(name: str, verdict: Verdict = Verdict.PASSED, code: str = "code", end: str = "as before") -> Outcome:
    return Outcome(name, verdict, end, "failed", "changed", ("write files",), 6, ("a", "b"), 1.5, code)


def test_an_outcome_is_read_back_as_it_was() -> None:
    assert parse_outcome(outcome("one").line()) == outcome("one")


def test_rows_with_a_result_are_not_run_again_and_lost_ones_are_not_either(results: Results) -> None:
    assert results.remaining(ROWS[:3]) == (FIRST, SECOND, THIRD)
    results.add(outcome(FIRST.name))
    results.add(outcome(SECOND.name, Verdict.FAILED))
    again = Results(results.path, "code")
    assert again.remaining(ROWS[:3]) == (THIRD,)
    assert again.outcomes()[SECOND.name].verdict is Verdict.FAILED


def test_what_was_not_injected_is_left(results: Results) -> None:
    results.add(outcome(FIRST.name, Verdict.NOT_INJECTED))
    assert results.remaining([FIRST]) == (FIRST,)
    results.add(outcome(FIRST.name))
    results.add(outcome(FIRST.name, Verdict.NOT_INJECTED))
    assert results.remaining([FIRST]) == ()


def test_results_of_other_code_count_only_when_that_is_asked_for(results: Results) -> None:
    results.add(outcome(FIRST.name, code="earlier"))
    assert results.remaining([FIRST]) == (FIRST,)
    assert Results(results.path, None).remaining([FIRST]) == ()


def test_the_last_result_counts_and_that_there_were_more_is_known(results: Results) -> None:
    results.add(outcome(FIRST.name, Verdict.FAILED))
    results.add(outcome(FIRST.name))
    results.add(outcome(SECOND.name))
    assert results.outcomes()[FIRST.name].verdict is Verdict.PASSED
    assert results.repeated() == {FIRST.name: 2}


def test_a_run_that_ends_leaves_one_line_a_row_by_name(results: Results) -> None:
    results.add(outcome(THIRD.name, code="earlier"))
    results.add(outcome(SECOND.name, Verdict.FAILED))
    results.add(outcome(SECOND.name))
    results.add(outcome(SECOND.name, Verdict.NOT_INJECTED))
    results.add(outcome(FIRST.name, code="earlier"))
    results.add(outcome(FIRST.name))
    results.path.write_text(results.path.read_text() + '{"row": "cut')
    before, repeated = results.outcomes(), results.repeated()
    results.tidy()
    stored = [parse_outcome(line) for line in results.path.read_text().splitlines()]
    assert [stored_outcome.row for stored_outcome in stored] == sorted(row.name for row in (FIRST, SECOND, THIRD))
    assert {stored_outcome.row: (stored_outcome.code, stored_outcome.times) for stored_outcome in stored} == {
        FIRST.name: ("code", 1),
        SECOND.name: ("code", 2),
        THIRD.name: ("earlier", 1),
    }
    assert results.repeated() == repeated == {SECOND.name: 2}
    assert {name: stored_outcome.verdict for name, stored_outcome in results.outcomes().items()} == {
        name: stored_outcome.verdict for name, stored_outcome in before.items()
    }
    text = results.path.read_text()
    results.tidy()
    assert results.path.read_text() == text
    results.add(outcome(SECOND.name))
    assert results.repeated() == {SECOND.name: 3}


def test_where_nothing_was_run_there_is_nothing_to_tidy(results: Results) -> None:
    results.tidy()
    assert not results.path.exists()


def test_a_line_that_was_cut_off_costs_its_row_only(results: Results) -> None:
    results.add(outcome(FIRST.name))
    whole = results.path.read_text()
    results.path.write_text(whole + outcome(SECOND.name).line()[:40])
    assert results.remaining([FIRST, SECOND]) == (SECOND,)
    results.add(outcome(THIRD.name))
    assert results.remaining([FIRST, SECOND, THIRD]) == (SECOND,)
