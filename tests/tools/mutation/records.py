# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests run a statement: what recording.py wrote, one record for each file of tests."""

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
    """What the tests of ``file`` run when nothing is mutated."""

    file: str
    observed: Observed

    @property
    def digest(self) -> str:
        """Of everything that the tests read: with the same one they find the same mutants."""
        return hashlib.sha256(json.dumps(self.observed.inputs, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def failed(self) -> list[str]:
        """Tests that fail without a mutation prove nothing."""
        return [name for name, test in self.observed.tests.items() if not test.passed]

    def is_current(self, digest_of: Callable[[str], str]) -> bool:
        """Whether all files that the tests read still have the same content, by their digests."""
        inputs = self.observed.inputs
        return bool(inputs) and all(digest_of(path) == digest for path, digest in inputs.items())

    def running(self, path: str, statement: Statement) -> Candidate | None:
        """The tests that run the statement; for one that runs when it is imported, all tests of the file.

        Children's lines count as imported, since nobody knows which test started them.
        """
        wanted = sum(1 << line for line in statement.lines)
        imported = int(self.observed.imported.get(path, "0"), 16) & wanted
        runs = self.observed.run.get(path, {})
        directly = {number for bits, numbers in runs.items() if int(bits, 16) & wanted for number in numbers}
        chosen = set(range(len(self.observed.tests))) if imported else directly
        close = bool(runs if imported and statement.at_import else directly)
        numbered = enumerate(self.observed.tests.items())
        kept = {name: test for number, (name, test) in numbered if number in chosen and test.passed}
        return self._candidate(kept, close) if kept else None

    def _candidate(self, kept: Mapping[str, Test], close: bool) -> Candidate:
        return Candidate(
            file=self.file,
            digest=self.digest,
            close=close,
            dropped=tuple(name for name in self.observed.tests if name not in kept),
            wall=sum(test.wall for test in kept.values()) + self.observed.overhead,
            cpu=sum(test.cpu for test in kept.values()) + self.observed.overhead,
        )


@dataclass(frozen=True)
class Candidate:
    """Tests of a file that may find a mutant, all but the ``dropped``; what they take when they pass, in seconds.

    ``close``: one of them runs code of the mutated file while it runs; others have only imported that file.
    """

    file: str
    digest: str
    close: bool
    dropped: tuple[str, ...]
    wall: float
    cpu: float


def candidates(records: Iterable[Record], path: str, statement: Statement) -> list[Candidate]:
    """Those to run for a mutant of the statement, first the close ones, of these the fastest."""
    found = (record.running(path, statement) for record in records)
    return sorted(filter(None, found), key=lambda candidate: (not candidate.close, candidate.wall, candidate.file))


def read(file: str, path: Path) -> Record | None:
    """What recording.py wrote at ``path`` for a file of tests; None where there is nothing that can be read."""
    try:
        observed = Observed(**json.loads(path.read_text(encoding="utf-8")))
        observed.tests = {name: Test(**test) for name, test in observed.tests.items()}  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError):
        return None
    return Record(file, observed)
