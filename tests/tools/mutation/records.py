# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the tests that run a statement, from the records that recording.py writes for each test file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .recording import Observed, Test
from .statements import Statement


@dataclass(frozen=True)
class Record:
    """The lines that the tests of ``file`` run without a mutation."""

    file: str
    observed: Observed

    @property
    def digest(self) -> str:
        """The digest of all files that the tests read; with the same digest they find the same mutants."""
        return hashlib.sha256(json.dumps(self.observed.inputs, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def failed(self) -> list[str]:
        """Tests that fail without a mutation, which therefore prove nothing."""
        return [name for name, test in self.observed.tests.items() if not test.passed]

    def is_current(self, digest_of: Callable[[str], str]) -> bool:
        """Whether all files that the tests read still have the same content, by their digests."""
        inputs = self.observed.inputs
        return bool(inputs) and all(digest_of(path) == digest for path, digest in inputs.items())

    def running(self, path: str, statement: Statement) -> Candidate | None:
        """The tests that run the statement, or all tests of the file if an import runs it.

        Lines of child processes count as imported, because the test that started them is unknown.
        """
        statement_lines = sum(1 << line for line in statement.lines)
        imported = int(self.observed.imported.get(path, "0"), 16) & statement_lines
        runs = self.observed.run.get(path, {})
        directly = {number for bits, numbers in runs.items() if int(bits, 16) & statement_lines for number in numbers}
        chosen = set(range(len(self.observed.tests))) if imported else directly
        close = bool(runs if imported and statement.at_import else directly)
        numbered = enumerate(self.observed.tests.items())
        tests = {name: test for number, (name, test) in numbered if number in chosen and test.passed}
        return self._candidate(tests, close) if tests else None

    def _candidate(self, tests: Mapping[str, Test], close: bool) -> Candidate:
        return Candidate(
            file=self.file,
            digest=self.digest,
            close=close,
            dropped=tuple(name for name in self.observed.tests if name not in tests),
            wall=sum(test.wall for test in tests.values()) + self.observed.overhead,
            cpu=sum(test.cpu for test in tests.values()) + self.observed.overhead,
        )


@dataclass(frozen=True)
class Candidate:
    """Tests of a file that may find a mutant: all except ``dropped``. ``wall`` and ``cpu``: seconds if they pass.

    ``close``: at least one of them runs code of the mutated file; otherwise they only import it.
    """

    file: str
    digest: str
    close: bool
    dropped: tuple[str, ...]
    wall: float
    cpu: float


def candidates(records: Iterable[Record], path: str, statement: Statement) -> list[Candidate]:
    """Candidates for a mutant of the statement: close ones first, then by time."""
    running = (record.running(path, statement) for record in records)
    return sorted(filter(None, running), key=lambda candidate: (not candidate.close, candidate.wall, candidate.file))


def read(file: str, path: Path) -> Record | None:
    """The record at ``path`` for a test file; None if it is missing or unreadable."""
    try:
        observed = Observed(**json.loads(path.read_text(encoding="utf-8")))
        observed.tests = {name: Test(**test) for name, test in observed.tests.items()}  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError):
        return None
    return Record(file, observed)
