# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of results: a run that was cut off goes on where it ended; one that ends leaves a line a row, by name."""

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
    """Results count for the code that they were made with; with ``code`` None those of any code do."""

    path: Path
    code: str | None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, outcome: Outcome) -> None:
        """Append a result; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self.path.open("a", encoding="utf-8") as stream:
            # A line of a run that was cut off stays by itself.
            stream.write("\n" * self._is_cut_off() + outcome.line() + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def outcomes(self) -> dict[str, Outcome]:
        """The last result of each row; one that was not injected is none while there is another."""
        found: dict[str, Outcome] = {}
        for outcome in self._read():
            if outcome.verdict is not Verdict.NOT_INJECTED or outcome.row not in found:
                found[outcome.row] = outcome
        return found

    def left(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows that have no result yet. A row that was lost has one."""
        known = self.outcomes()
        return tuple(row for row in rows if row.name not in known or known[row.name].verdict is Verdict.NOT_INJECTED)

    def repeated(self) -> dict[str, int]:
        """How often a fault was injected, where that was more than once."""
        counted = self._times(self._read())
        return {name: times for name, times in counted.items() if times > 1}

    def tidy(self) -> None:
        """Leave the last result of each row, whatever its code, by name: people read the file as a difference."""
        if not self.path.exists():
            return
        every = Results(self.path, None)
        lines = []
        for name, outcome in sorted(every.outcomes().items()):
            times = self._times(each for each in every._read() if each.code == outcome.code)[name]
            lines.append(replace(outcome, times=max(times, 1)).line() + "\n")
        whole = self.path.with_suffix(".new")
        whole.write_text("".join(lines), encoding="utf-8")
        whole.replace(self.path)

    @staticmethod
    def _times(outcomes: Iterable[Outcome]) -> Counter[str]:
        """How often each fault was injected."""
        counted: Counter[str] = Counter()
        for each in outcomes:
            counted[each.row] += each.times * (each.verdict is not Verdict.NOT_INJECTED)
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
