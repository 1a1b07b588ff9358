# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests that run the statement of a mutant run against the mutant."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.mutation import trial
from ansible_collections.volcano.colocation.tests.tools.mutation.observation import digest, observe
from ansible_collections.volcano.colocation.tests.tools.mutation.records import Candidate, Record
from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutant, Mutation
from ansible_collections.volcano.colocation.tests.tools.mutation.sandbox import Limit, Sandbox
from ansible_collections.volcano.colocation.tests.tools.mutation.trial import (
    Outcome,
    TrialError,
    Verdict,
    batches,
    judge,
    within,
)
from ansible_collections.volcano.colocation.tests.tools.unit.mutation import small_checkout
from ansible_collections.volcano.colocation.tests.tools.unit.mutation.small_checkout import CLOSE, FAR, FILES, SMALL


@pytest.fixture(scope="module", name="sandbox")
def _sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return small_checkout.unsafe(small_checkout.make(tmp_path_factory.mktemp("checkout")))


@pytest.fixture(scope="module", name="records")
def _records(sandbox: Sandbox) -> list[Record]:
    made = [
        observe(functools.partial(digest, sandbox.copy), sandbox.copy / ".cache", file, sandbox)
        for file in (CLOSE, FAR)
    ]
    return [record for record in made if record]


def mutant(before: str, after: str) -> Mutant:
    original = FILES[SMALL]
    assert original.count(before) == 1
    line = original[: original.index(before)].count("\n") + 1
    return Mutant(Mutation(SMALL, "core/Some", 0, line, 0), original, original.replace(before, after))


def judged(mutant: Mutant, records: list[Record], sandbox: Sandbox, budget: float = 100) -> Verdict:
    verdict = judge(records, budget, mutant, sandbox)
    assert (sandbox.copy / SMALL).read_text() == mutant.original
    return verdict


def test_a_mutant_is_found_by_the_first_test_that_fails(records: list[Record], sandbox: Sandbox) -> None:
    verdict = judged(mutant("number < LIMIT", "number <= LIMIT - 1 and number != 2"), records, sandbox)
    assert (verdict.outcome, verdict.by) == (Outcome.KILLED, f"{CLOSE}::test_small[2]")
    assert verdict.decided_by == {CLOSE: records[0].digest}


def test_a_mutant_is_found_by_a_test_of_another_file(records: list[Record], sandbox: Sandbox) -> None:
    verdict = judged(mutant("LIMIT = 3", "LIMIT = 4"), records, sandbox)
    assert (verdict.outcome, verdict.by) == (Outcome.KILLED, f"{FAR}::test_limit")


def test_a_mutant_that_cannot_be_imported_is_found(records: list[Record], sandbox: Sandbox) -> None:
    """The conftest fails, which pytest does not report for a test."""
    assert judged(mutant("LIMIT = 3", "LIMIT = 3 / 0"), records, sandbox).outcome is Outcome.KILLED


@pytest.mark.parametrize("change", [("LIMIT = 3", "LIMIT = 3.0"), ("!= 0", "> 0")])
def test_a_mutant_survives_all_tests_that_run_it(
    records: list[Record], sandbox: Sandbox, change: tuple[str, str]
) -> None:
    verdict = judged(mutant(*change), records, sandbox)
    assert (verdict.outcome, verdict.by) == (Outcome.SURVIVED, "")


def test_a_survivor_is_decided_by_all_tests(records: list[Record], sandbox: Sandbox) -> None:
    verdict = judged(mutant("LIMIT = 3", "LIMIT = 3.0"), records, sandbox)
    assert verdict.decided_by == {record.file: record.digest for record in records}


def test_a_budget_leaves_tests_out(records: list[Record], sandbox: Sandbox) -> None:
    """At least one file runs, in this test the one that does not find the mutant."""
    verdict = judged(mutant("LIMIT = 3", "LIMIT = 3.5"), records, sandbox, budget=0)
    assert (verdict.outcome, verdict.decided_by) == (Outcome.UNFINISHED, {CLOSE: records[0].digest})


def test_what_no_test_runs_survives(records: list[Record], sandbox: Sandbox) -> None:
    verdict = judged(mutant("number + 1", "number + 2"), records, sandbox)
    assert (verdict.outcome, verdict.decided_by) == (Outcome.UNTESTED, {})


@pytest.mark.parametrize("limit", [Limit(cpu=2, wall=60), Limit(cpu=60, wall=3)], ids=["CPU time", "time"])
def test_an_endless_mutant_is_found(
    records: list[Record], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, limit: Limit
) -> None:
    monkeypatch.setattr(trial, "limit", lambda _batch: limit)
    verdict = judged(mutant("number - 1", "number + 1"), records, sandbox)
    assert (verdict.outcome, verdict.by) == (Outcome.ENDLESS, "")


def test_tests_that_cannot_be_run_find_nothing(records: list[Record], sandbox: Sandbox, tmp_path: Path) -> None:
    """Otherwise a full disk would count as finding all mutants."""
    broken = Sandbox(sandbox.copy, ("sh", "-c", "exit 1"))
    with pytest.raises(TrialError, match=r"pytest ended with status 1 without a failed test"):
        judged(mutant("LIMIT = 3", "LIMIT = 4"), records, broken)


def candidate(cpu: float) -> Candidate:
    return Candidate(f"{cpu}", "", close=True, dropped=(), wall=cpu, cpu=cpu)


def test_batches_grow() -> None:
    sizes = [4.0, 5.0, 6.0, 7.0, 30.0, 50.0, 60.0, 400.0]
    assert [[item.cpu for item in batch] for batch in batches(map(candidate, sizes))] == [
        [4, 5],
        [6, 7],
        [30, 50, 60],
        [400],
    ]
    assert list(batches([])) == []


@pytest.mark.parametrize(("budget", "count"), [(0, 1), (3, 1), (7, 1), (8, 2), (14, 2), (15, 3), (100, 3)])
def test_what_fits_into_a_budget(budget: float, count: int) -> None:
    chosen = [candidate(cpu) for cpu in (3, 5, 7)]
    assert within(chosen, budget) == chosen[:count]


def test_limits_are_several_times_what_the_tests_took() -> None:
    limit = trial.limit([candidate(10), candidate(20)])
    assert limit.cpu > 60
    assert limit.wall > 60
