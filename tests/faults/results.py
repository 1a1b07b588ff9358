# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results file: an interrupted run continues where it ended; a complete run leaves one line per row, by name."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from .outcome import Outcome, Verdict, parse_outcome
from .rows import Row


@dataclass(frozen=True)
class Results:
    """Only results of ``code`` count; None: results of any code."""

    path: Path
    code: str | None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, outcome: Outcome) -> None:
        """Append a result; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self.path.open("a", encoding="utf-8") as stream:
            # The incomplete line of an interrupted run stays separate.
            stream.write("\n" * self._is_cut_off() + outcome.line() + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def outcomes(self) -> dict[str, Outcome]:
        """Return the last result of each row; NOT_INJECTED counts only if there is no other."""
        latest: dict[str, Outcome] = {}
        for outcome in self._read():
            if outcome.verdict is not Verdict.NOT_INJECTED or outcome.row not in latest:
                latest[outcome.row] = outcome
        return latest

    def remaining(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return rows that have no result yet. A lost row has one."""
        known = self.outcomes()
        return tuple(row for row in rows if row.name not in known or known[row.name].verdict is Verdict.NOT_INJECTED)

    def repeated(self) -> dict[str, int]:
        """Return how often each fault was injected, if more than once."""
        counted = self._times(self._read())
        return {name: times for name, times in counted.items() if times > 1}

    def tidy(self) -> None:
        """Keep only the last result of each row, of any code, sorted by name, for readable diffs."""
        if not self.path.exists():
            return
        every = Results(self.path, None)
        lines = []
        for name, outcome in sorted(every.outcomes().items()):
            times = self._times(other for other in every._read() if other.code == outcome.code)[name]
            lines.append(replace(outcome, times=max(times, 1)).line() + "\n")
        whole = self.path.with_suffix(".new")
        whole.write_text("".join(lines), encoding="utf-8")
        whole.replace(self.path)

    @staticmethod
    def _times(outcomes: Iterable[Outcome]) -> Counter[str]:
        """How often each fault was injected."""
        counted: Counter[str] = Counter()
        for outcome in outcomes:
            counted[outcome.row] += outcome.times * (outcome.verdict is not Verdict.NOT_INJECTED)
        return counted

    def _read(self) -> Iterator[Outcome]:
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            with suppress(ValueError):
                outcome = parse_outcome(line)
                if self.code in (None, outcome.code):
                    yield outcome

    def _is_cut_off(self) -> bool:
        text = self.path.read_bytes() if self.path.exists() else b""
        return bool(text) and not text.endswith(b"\n")
