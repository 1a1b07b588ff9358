# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows run in order, each until its fault was injected, and every outcome is stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from ansible_collections.volcano.colocation.tests.faults.fault import End, Kind
from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict
from ansible_collections.volcano.colocation.tests.faults.results import Results
from ansible_collections.volcano.colocation.tests.faults.rounds import Rounds
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS, Row

TWO = tuple(row for row in ROWS if row.fault.kind is Kind.KILLED)[:2]
Keep = Callable[[Outcome], None]


class Injector:
    """Returns the configured verdicts of a row, then PASSED."""

    def __init__(self, **verdicts: list[Verdict]) -> None:
        self.verdicts = {name.replace("_", "-"): remaining for name, remaining in verdicts.items()}
        self.rows: list[str] = []
        self.keep: Keep = lambda _outcome: None

    def inject(self, row: Row) -> None:
        self.rows.append(row.name)
        remaining = self.verdicts.get(row.name, [])
        self.keep(Outcome(row.name, remaining.pop(0) if remaining else Verdict.PASSED))

    def close(self) -> None:
        self.rows.append("closed")


def inject_rows(path: Path, injector: Injector, rows: Iterable[Row], stop: threading.Event | None = None) -> Results:
    def make_injector(_cgroup: str, keep: Keep) -> Injector:
        injector.keep = keep
        return injector

    results = Results(path / "results.jsonl", "code")
    Rounds(results, "code", make_injector, lambda _line: None, stop or threading.Event()).run(rows)
    return results


def test_refused_rows_first_and_aligned_last(tmp_path: Path) -> None:
    injector = Injector()
    rows = [row for row in ROWS if row.cgroup == "v2"]
    results = inject_rows(tmp_path, injector, rows)
    first_round = injector.rows[: len(rows)]
    by_name = {row.name: row.fault for row in rows}
    struck = [bool(by_name[name].strikes) for name in first_round]
    aligned = [End.COMMITTED in by_name[name].ends for name in first_round]
    assert struck == sorted(struck)
    assert aligned[struck.index(True) :] == sorted(aligned[struck.index(True) :])
    assert injector.rows[len(rows)] == "closed"
    assert results.remaining(rows) == ()


def test_a_fault_that_was_missed_is_tried_again_but_one_that_lost_the_node_is_not(tmp_path: Path) -> None:
    first, second = (row.name for row in TWO)
    missed = [Verdict.NOT_INJECTED, Verdict.NOT_INJECTED]
    verdicts = {first.replace("-", "_"): missed, second.replace("-", "_"): [Verdict.FAILED]}
    injector = Injector(**verdicts)
    results = inject_rows(tmp_path, injector, TWO)
    assert injector.rows == [first, second, "closed", first, "closed", first, "closed"]
    assert results.outcomes()[first].verdict is Verdict.PASSED
    assert results.outcomes()[second].verdict is Verdict.FAILED


def test_one_that_is_missed_every_time_is_left(tmp_path: Path) -> None:
    first = TWO[0]
    injector = Injector(**{first.name.replace("-", "_"): [Verdict.NOT_INJECTED] * 3})
    assert inject_rows(tmp_path, injector, TWO).remaining(TWO) == (first,)


def test_a_row_whose_node_was_deleted_has_no_result(tmp_path: Path) -> None:
    stop = threading.Event()

    class Interrupted(Injector):
        def inject(self, row: Row) -> None:
            stop.set()
            super().inject(row)

    assert inject_rows(tmp_path, Interrupted(), TWO, stop).outcomes() == {}
