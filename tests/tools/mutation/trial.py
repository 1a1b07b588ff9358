# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tests that may find a mutant, until one does."""

from __future__ import annotations

import enum
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from . import replay, statements
from .copies import mutated
from .records import Candidate, Record, candidates
from .replay import Selection
from .sample import Mutant
from .sandbox import Limit, Sandbox

PYTEST = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p")
PACKAGE = __name__.rpartition(".")[0]

FIRST_BATCH, GROWTH = 10.0, 4.0
"""CPU seconds of the first batch of tests, and the factor by which each next batch may be longer."""

PASSED = (0, 5)
"""Exit statuses of pytest; 5 means no tests, because the mutant changes the values from which they are generated."""
BROKEN = (2, 3, 4)
"""Exit statuses if the collection, pytest itself or a conftest failed: a file could not be imported."""
STOPPED = (None, 128 + 9, 128 + 24)
"""Statuses of tests that reached the limit of time (None) or of CPU time (SIGKILL or SIGXCPU)."""
SIGNALLED = 128


class TrialError(Exception):
    """Tests could not run."""


class Outcome(enum.Enum):
    KILLED = "found"
    ENDLESS = "found, since the tests did not end"
    SURVIVED = "survived"
    UNFINISHED = "survived the tests that fit into the budget"
    UNTESTED = "no test runs it"

    @property
    def is_found(self) -> bool:
        return self in (Outcome.KILLED, Outcome.ENDLESS)


@dataclass(frozen=True)
class Verdict:
    """``by``: the failed test. ``decided_by``: digests of the records of the test files that ran."""

    outcome: Outcome
    by: str
    decided_by: dict[str, str]
    seconds: float


def judge(records: Sequence[Record], budget: float, mutant: Mutant, sandbox: Sandbox) -> Verdict:
    """Run the tests that may find the mutant, up to ``budget`` CPU seconds in total."""
    began = time.monotonic()
    chosen = relevant(mutant, records)
    affordable = within(chosen, budget)
    with mutated(sandbox.copy / mutant.mutation.path, mutant.mutated):
        for batch in batches(affordable):
            outcome, by = run(batch, sandbox)
            if outcome.is_found:
                ran = [candidate for candidate in batch if by.startswith(candidate.file)] or batch
                return Verdict(outcome, by, decided_by(ran), time.monotonic() - began)
    outcome = Outcome.UNTESTED if not chosen else Outcome.SURVIVED if affordable == chosen else Outcome.UNFINISHED
    return Verdict(outcome, "", decided_by(affordable), time.monotonic() - began)


def relevant(mutant: Mutant, records: Iterable[Record]) -> list[Candidate]:
    """Tests that run the mutated statement, in the order of their runs."""
    statement = statements.find(mutant.original, mutant.mutation.line)
    return candidates(records, mutant.mutation.path, statement)


def decided_by(chosen: Iterable[Candidate]) -> dict[str, str]:
    return {candidate.file: candidate.digest for candidate in chosen}


def within(chosen: Sequence[Candidate], budget: float) -> list[Candidate]:
    """The first candidates that fit into ``budget`` CPU seconds, at least one."""
    total = 0.0
    for number, candidate in enumerate(chosen):
        total += candidate.cpu
        if total > budget and number:
            return list(chosen[:number])
    return list(chosen)


def batches(chosen: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Files for each run of pytest: few and fast ones first, because these find most mutants."""
    batch: list[Candidate] = []
    total, limit = 0.0, FIRST_BATCH
    for candidate in chosen:
        if batch and total + candidate.cpu > limit:
            yield batch
            batch, total, limit = [], 0.0, limit * GROWTH
        batch.append(candidate)
        total += candidate.cpu
    if batch:
        yield batch


def run(batch: Sequence[Candidate], sandbox: Sandbox) -> tuple[Outcome, str]:
    """Run the tests of a batch until one fails; returns the outcome and the id of the failed test."""
    cache = sandbox.copy / ".cache"
    selection, result, log = cache / "selection.json", cache / "failed.txt", cache / "pytest.log"
    result.write_text("")
    dropped = [name for candidate in batch for name in candidate.dropped]
    selection.write_text(json.dumps(asdict(Selection(dropped, str(result)))), encoding="utf-8")
    arguments = [*PYTEST, f"{PACKAGE}.replay", "-x", *(candidate.file for candidate in batch)]
    # No bytecode, because a compiled mutant could be used for a later one.
    variables = {replay.VARIABLE: str(selection), "PYTHONDONTWRITEBYTECODE": "1"}
    status = sandbox.run(arguments, limit(batch), log, variables)
    failed = result.read_text(encoding="utf-8").splitlines()
    if failed:
        return Outcome.KILLED, failed[0]
    if status in PASSED:
        return Outcome.SURVIVED, ""
    if status in STOPPED:
        return Outcome.ENDLESS, ""
    if status in BROKEN or (status or 0) > SIGNALLED:
        return Outcome.KILLED, f"exit status {status}"
    raise TrialError(f"pytest ended with status {status} without a failed test; its output is in {log}")


def limit(batch: Sequence[Candidate]) -> Limit:
    """Several times the recorded time of the tests; more for wall time, because the CPUs may be busy."""
    cpu, wall = (sum(getattr(candidate, name) for candidate in batch) for name in ("cpu", "wall"))
    return Limit(cpu=20 + 4 * cpu, wall=180 + 10 * wall)
