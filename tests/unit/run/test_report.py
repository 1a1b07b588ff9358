# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person reads while the tests run, and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import report
from ansible_collections.volcano.colocation.tests.run.execution import Failure, Outcome
from ansible_collections.volcano.colocation.tests.run.stages import Stage

STAGE = Stage("units", 60, (("pytest", "tests/unit"),))


def outcome(tmp_path: Path, text: str, *failures: Failure) -> Outcome:
    log = tmp_path / "units.log"
    log.write_text(text)
    return Outcome(STAGE, 12.4, failures, log=log)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fine\n", "[1/2] units … ok in 12 s (share 60 s)"),
        ("=== 7 passed in 3.21s ===\n", "[1/2] units … ok in 12 s (share 60 s): 7 passed"),
        ("7 passed, 1 warning in 0.50s\n", "[1/2] units … ok in 12 s (share 60 s): 7 passed, 1 warning"),
        (
            "= 1 passed in 1.0s =\n= 2 passed in 75.00s (0:01:15) =\n",
            "[1/2] units … ok in 12 s (share 60 s): 1 passed, 2 passed",
        ),
    ],
)
def test_one_line_on_a_stage_that_passed(tmp_path: Path, text: str, line: str) -> None:
    assert report.verdict("[1/2]", outcome(tmp_path, text)) == line


def test_one_line_on_a_stage_that_failed(tmp_path: Path) -> None:
    failed = outcome(tmp_path, "= 1 failed, 6 passed in 3.21s =\n", Failure(("pytest",), "exit status 1", 0, 0))
    assert report.verdict("[1/2]", failed) == "[1/2] units … FAILED in 12 s (share 60 s): 1 failed, 6 passed"


def test_a_stage_that_did_not_run_has_not_passed() -> None:
    blocked = Outcome(STAGE, blocked_by=("lab",))
    assert report.verdict("[2/2]", blocked) == "[2/2] units … not run, because of lab"
    assert report.closing([blocked], 0.0).splitlines() == [
        "failed: units … not run, because of lab",
        "stages: 0 passed, 1 failed in 0 min 0 s",
    ]


def test_a_failure_shows_the_end_of_its_own_output(tmp_path: Path) -> None:
    text = "before\n" + "".join(f"line {number}\n" for number in range(200)) + "after\n"
    failed = Failure(("pytest", "tests/unit"), "exit status 1", len("before\n"), len(text) - len("after\n"))
    lines = report.failure(outcome(tmp_path, text, failed), failed).splitlines()
    assert lines[0].startswith("--- units: pytest tests/unit: exit status 1; all of it: ")
    assert lines[1:-1] == [f"line {number}" for number in range(120, 200)]


def test_a_failure_names_errors_from_further_up(tmp_path: Path) -> None:
    text = "ERROR: a.py:1: bad\nno ERROR\n" + "".join(f"line {number}\n" for number in range(80))
    failed = Failure(("ansible-test",), "exit status 1", 0, len(text))
    shown = report.failure(outcome(tmp_path, text, failed), failed).splitlines()
    assert shown[1:3] == ["ERROR: a.py:1: bad", "line 0"]


def test_the_end_tells_again_what_passed_and_why_the_rest_did_not(tmp_path: Path) -> None:
    text = "line\nFAILED tests/a.py::b - AssertionError\n= 1 failed, 6 passed in 3.21s =\n"
    failed = outcome(tmp_path, text, Failure(("pytest",), "exit status 1", 0, len(text)))
    assert report.closing([Outcome(STAGE, 60.0), failed], 72.0).splitlines() == [
        "passed: units 60 s",
        "failed: units … FAILED in 12 s (share 60 s): 1 failed, 6 passed",
        "  FAILED tests/a.py::b - AssertionError",
        "stages: 1 passed, 1 failed in 1 min 12 s",
    ]


def test_the_end_tells_the_last_lines_where_none_names_an_error(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(9))
    failed = outcome(tmp_path, text, Failure(("x",), "exit status 1", 0, len(text)))
    assert report.closing([failed], 0.0).splitlines()[1:-1] == [f"  line {number}" for number in range(5, 9)]


def test_progress_is_one_short_line() -> None:
    assert report.progress("[1/2]", "units", 30.2, "x" * 300) == f"[1/2] units … 30 s  {'x' * 100}"
