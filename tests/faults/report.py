# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the outcomes as tables for the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..bench.report import with_figures
from ..bench.table import markdown
from .fault import End, Kind
from .outcome import Outcome, Verdict
from .rows import NODES, Row

BEGIN = "<!-- table: written by make test-faults -->"
END = "<!-- end of the table -->"


def text(rows: Sequence[Row], outcomes: Mapping[str, Outcome], repeated: Mapping[str, int]) -> str:
    """Return Markdown: a summary, a line for each kind, a line for each fault."""
    return "\n\n".join(
        part
        for part in (_lead(rows, outcomes), _again(repeated), _kinds(rows, outcomes), _faults(rows, outcomes))
        if part
    )


def with_table(page: str, table: str) -> str:
    """Return the page with the block between the two comments replaced; NoPlace if they are missing."""
    return with_figures(page, table, BEGIN, END)


def all_kept(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> bool:
    """Whether every row was injected and none was lost."""
    return _counted(rows, outcomes)[Verdict.PASSED] == len(rows)


def _lead(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> str:
    counted = _counted(rows, outcomes)
    made = _made(rows, outcomes)
    when = "with the code and on the day that each row names" if len(made) > 1 else "".join(made) or "with no code"
    lead = (
        f"Made by `make test-faults` {when}:"
        f" {counted[Verdict.PASSED] + counted[Verdict.FAILED]} faults injected, {counted[Verdict.FAILED]} lost."
    )
    missing = counted[Verdict.NOT_INJECTED]
    return lead + (f" {missing} of the table were not injected." if missing else "")


def _made(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> list[str]:
    """Return code and day of the results; several if rows are from different runs."""
    return sorted({_origin(outcomes[row.name]) for row in rows if row.name in outcomes})


def _origin(outcome: Outcome) -> str:
    return f"with code {outcome.code} on {outcome.day or 'an unknown day'}"


def _again(repeated: Mapping[str, int]) -> str:
    named = ", ".join(f"{name} ({times} times)" for name, times in sorted(repeated.items()))
    return f"Injected more than once, with the last result below: {named}." if named else ""


def _counted(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> Counter[Verdict]:
    return Counter(_verdict(outcomes.get(row.name)) for row in rows)


def _verdict(outcome: Outcome | None) -> Verdict:
    return Verdict.NOT_INJECTED if outcome is None else outcome.verdict


def _kinds(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> str:
    return markdown(
        ("fault", *(f"cgroup {cgroup}" for cgroup in NODES), *(end.value for end in End), "lost"),
        [_kind(kind, [row for row in rows if row.fault.kind is kind], outcomes) for kind in Kind],
    )


def _kind(kind: Kind, rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    injected = [
        (row, outcomes[row.name]) for row in rows if _verdict(outcomes.get(row.name)) is not Verdict.NOT_INJECTED
    ]
    passed = [outcome for _row, outcome in injected if outcome.verdict is Verdict.PASSED]
    return (
        kind.value,
        *(str(sum(row.cgroup == cgroup for row, _outcome in injected)) for cgroup in NODES),
        *(str(sum(outcome.end == end.value for outcome in passed)) for end in End),
        str(len(injected) - len(passed)),
    )


def _faults(rows: Sequence[Row], outcomes: Mapping[str, Outcome]) -> str:
    heads: tuple[str, ...] = ("fault", "at", "cgroup", "the node ended", "containers", "the run said", "the next run")
    cells_of_rows = [_fault(row, outcomes.get(row.name)) for row in rows]
    if len(_made(rows, outcomes)) > 1:
        heads = (*heads, "code and day")
        cells_of_rows = [
            (*cells, _code_and_day(outcomes.get(row.name))) for row, cells in zip(rows, cells_of_rows, strict=True)
        ]
    return markdown(heads, cells_of_rows)


def _code_and_day(outcome: Outcome | None) -> str:
    return "" if outcome is None else f"{outcome.code} {outcome.day}".strip()


def _fault(row: Row, outcome: Outcome | None) -> tuple[str, ...]:
    fault = row.fault
    what = f"{fault.kind.value}: {fault.what}" if fault.what else fault.kind.value
    where = ", then ".join(strike.moment for strike in fault.strikes) or "from the beginning"
    if outcome is None or outcome.verdict is Verdict.NOT_INJECTED:
        return (what, where, row.cgroup, "not injected", "", "", "")
    end = outcome.end if outcome.verdict is Verdict.PASSED else f"LOST: {'; '.join(outcome.wrong[:3])}"
    cells = (what, where, row.cgroup, end, str(outcome.pods), outcome.run, outcome.following)
    return tuple(cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
