# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows are carried out in order, each until its fault was injected, and every outcome is kept."""

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


class Carrier:
    """Answers with the verdicts it was given for a row, KEPT when they are used up."""

    def __init__(self, **verdicts: list[Verdict]) -> None:
        self.verdicts = {name.replace("_", "-"): given for name, given in verdicts.items()}
        self.rows: list[str] = []
        self.keep: Keep = lambda _outcome: None

    def carry_out(self, row: Row) -> None:
        self.rows.append(row.name)
        given = self.verdicts.get(row.name, [])
        self.keep(Outcome(row.name, given.pop(0) if given else Verdict.KEPT))

    def close(self) -> None:
        self.rows.append("closed")


def carried_out(path: Path, carrier: Carrier, rows: Iterable[Row], stop: threading.Event | None = None) -> Results:
    def given(_cgroup: str, keep: Keep) -> Carrier:
        carrier.keep = keep
        return carrier

    results = Results(path / "results.jsonl", "code")
    Rounds(results, "code", given, lambda _line: None, stop or threading.Event()).run(rows)
    return results


def test_refused_at_once_first_and_aligned_last(tmp_path: Path) -> None:
    carrier = Carrier()
    rows = [row for row in ROWS if row.cgroup == "v2"]
    results = carried_out(tmp_path, carrier, rows)
    first_round = carrier.rows[: len(rows)]
    by_name = {row.name: row.fault for row in rows}
    struck = [bool(by_name[name].strikes) for name in first_round]
    aligned = [End.COMMITTED in by_name[name].ends for name in first_round]
    assert struck == sorted(struck)
    assert aligned[struck.index(True) :] == sorted(aligned[struck.index(True) :])
    assert carrier.rows[len(rows)] == "closed"
    assert results.left(rows) == ()


def test_a_fault_that_was_missed_is_tried_again_but_one_that_lost_the_node_is_not(tmp_path: Path) -> None:
    first, second = (row.name for row in TWO)
    missed = [Verdict.NOT_INJECTED, Verdict.NOT_INJECTED]
    given = {first.replace("-", "_"): missed, second.replace("-", "_"): [Verdict.LOST]}
    carrier = Carrier(**given)
    results = carried_out(tmp_path, carrier, TWO)
    assert carrier.rows == [first, second, "closed", first, "closed", first, "closed"]
    assert results.outcomes()[first].verdict is Verdict.KEPT
    assert results.outcomes()[second].verdict is Verdict.LOST


def test_one_that_is_missed_every_time_is_left(tmp_path: Path) -> None:
    first = TWO[0]
    carrier = Carrier(**{first.name.replace("-", "_"): [Verdict.NOT_INJECTED] * 3})
    assert carried_out(tmp_path, carrier, TWO).left(TWO) == (first,)


def test_nothing_is_kept_of_a_row_whose_node_was_taken_away(tmp_path: Path) -> None:
    stop = threading.Event()

    class Interrupted(Carrier):
        def carry_out(self, row: Row) -> None:
            stop.set()
            super().carry_out(row)

    assert carried_out(tmp_path, Interrupted(), TWO, stop).outcomes() == {}
