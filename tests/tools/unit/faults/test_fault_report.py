# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables show what was injected, lost and not tried; the page has a place for them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ansible_collections.volcano.colocation.tests.faults import report
from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict
from ansible_collections.volcano.colocation.tests.faults.places import DOCUMENT
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS

PASSED, FAILED, MISSED, NEVER = (row for row in ROWS if row.name.startswith("v1-killed-st"))
OUTCOMES = {
    PASSED.name: Outcome(
        PASSED.name, Verdict.PASSED, "as before", "failed", "changed", pods=6, code="c0de", day="2026-11-21"
    ),
    FAILED.name: Outcome(
        FAILED.name, Verdict.FAILED, wrong=("/etc/a|b: x -> y", "2", "3", "4"), pods=5, code="c0de", day="2026-11-21"
    ),
    MISSED.name: Outcome(MISSED.name, Verdict.NOT_INJECTED, wrong=("missed",), code="c0de", day="2026-11-21"),
}
ROWS_OF_IT = (PASSED, FAILED, MISSED, NEVER)


def lines(text: str) -> list[str]:
    """Without the padding of the tables."""
    return [re.sub(r"\s*\|\s*", "|", line).strip("|") for line in text.splitlines()]


def test_every_row_is_counted() -> None:
    text = report.text(ROWS_OF_IT, OUTCOMES, {FAILED.name: 2})
    assert "with code c0de on 2026-11-21: 2 faults injected, 1 lost. 2 of the table were not injected." in text
    assert f"{FAILED.name} (2 times)" in text
    text_lines = lines(text)
    assert "the engine is killed (SIGKILL)|2|0|1|0|1" in text_lines
    assert "the power is cut|0|0|0|0|0" in text_lines
    assert "the engine is killed (SIGKILL)|stop kubelet|v1|as before|6|failed|changed" in text_lines
    assert "the engine is killed (SIGKILL)|start kubelet|v1|not injected" in text_lines


def test_rows_of_one_code_and_day_need_no_column_for_it() -> None:
    assert "code and day" not in report.text(ROWS_OF_IT, OUTCOMES, {})


@pytest.mark.parametrize(("code", "day"), [("beef", "2026-11-21"), ("c0de", "2026-11-22")])
def test_rows_of_different_runs_each_name_their_code_and_day(code: str, day: str) -> None:
    mixed = {**OUTCOMES, PASSED.name: replace(OUTCOMES[PASSED.name], code=code, day=day)}
    text = report.text(ROWS_OF_IT, mixed, {})
    assert "with the code and on the day that each row names: 2 faults injected" in text
    text_lines = lines(text)
    assert f"the engine is killed (SIGKILL)|stop kubelet|v1|as before|6|failed|changed|{code} {day}" in text_lines
    assert sum(line.endswith("|c0de 2026-11-21") for line in text_lines) == 2


def test_what_was_lost_is_described_in_a_cell() -> None:
    text = report.text((FAILED,), OUTCOMES, {})
    assert "LOST: /etc/a\\|b: x -> y; 2; 3" in text
    assert "more than once" not in text


def test_all_kept_means_all() -> None:
    assert report.all_kept((PASSED,), OUTCOMES)
    for row in (FAILED, MISSED, NEVER):
        assert not report.all_kept((PASSED, row), OUTCOMES)


def test_the_page_has_a_place_for_the_table() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    written = report.with_table(page, "| new |")
    assert report.with_table(written, "| newer |").count("| newer |") == 1
    assert "| new |" not in report.with_table(written, "| newer |")
    assert written.partition(report.BEGIN)[0] == page.partition(report.BEGIN)[0]


def test_the_page_names_every_kind() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    assert [row.fault.kind.value for row in ROWS if row.fault.kind.value not in page] == []
