# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of mutants in a file: one JSON line for each, appended immediately."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from .records import Record
from .sample import Mutant
from .trial import Outcome, Verdict, decided_by, relevant, within


class Results:
    """A file of verdicts. A verdict is valid while the tests that decided it are those of ``records``."""

    def __init__(self, path: Path, records: Sequence[Record], budget: float) -> None:
        self._path = path
        self._records = records
        self._budget = budget
        self._verdicts: dict[str, Verdict] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            self._load(line)

    def _load(self, line: str) -> None:
        """Load a verdict; an incomplete line of an interrupted run is ignored."""
        try:
            stored = json.loads(line)
            verdict = Verdict(**{**stored["verdict"], "outcome": Outcome(stored["verdict"]["outcome"])})
            self._verdicts[stored["key"]] = verdict
        except (ValueError, KeyError, TypeError):
            return

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        self._verdicts[mutant.key] = verdict
        stored = {
            "key": mutant.key,
            "path": mutant.mutation.path,
            "line": mutant.mutation.line,
            "operator": mutant.mutation.operator,
            "verdict": {**asdict(verdict), "outcome": verdict.outcome.value},
        }
        # An incomplete last line must not be joined with the new line.
        cut_off = self._path.is_file() and not self._path.read_bytes().endswith(b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{chr(10) * cut_off}{json.dumps(stored)}\n")

    def find(self, mutant: Mutant) -> Verdict | None:
        """The valid verdict, if any; that of a survivor is valid only if the same tests would run again."""
        verdict = self._verdicts.get(mutant.key)
        if verdict is None:
            return None
        chosen = relevant(mutant, self._records)
        if verdict.outcome.is_found:
            return verdict if verdict.decided_by.items() <= decided_by(chosen).items() else None
        return verdict if verdict.decided_by == decided_by(within(chosen, self._budget)) else None

    def of(self, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Verdict]]:
        """(mutant, verdict) for the mutants with a valid verdict."""
        verdicts = ((mutant, self.find(mutant)) for mutant in mutants)
        yield from ((mutant, verdict) for mutant, verdict in verdicts if verdict)
