# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output while the tests run, and at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import report
from ansible_collections.volcano.colocation.tests.run.execution import Failure, Outcome
from ansible_collections.volcano.colocation.tests.run.stages import Stage
from ansible_collections.volcano.colocation.tests.run.suites import SUITES, Suite, duration

STAGE = Stage("units", 60, (("pytest", "tests/unit"),))
OTHER = Stage("other", 60, ())
SUITE = Suite("test", "all", (OTHER, STAGE))
OTHER_SUITES = [
    f"not run: make {suite.name}: {suite.runs} ({duration(suite)})" for suite in SUITES if suite.name != "test"
]
LEFT_OUT = ['not run: make test STAGES="other"', *OTHER_SUITES]


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
def test_a_stage_that_passed_is_reported_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    assert report.verdict("[1/2]", outcome(tmp_path, text)) == line


def test_a_stage_that_failed_is_reported_in_one_line_with_its_counts(tmp_path: Path) -> None:
    failed = outcome(tmp_path, "= 1 failed, 6 passed in 3.21s =\n", Failure(("pytest",), "exit status 1", 0, 0))
    assert report.verdict("[1/2]", failed) == "[1/2] units … FAILED in 12 s (share 60 s): 1 failed, 6 passed"


def test_a_stage_that_did_not_run_has_not_passed() -> None:
    blocked = Outcome(STAGE, blocked_by=("lab",))
    assert report.verdict("[2/2]", blocked) == "[2/2] units … not run, because of lab"
    assert report.closing(SUITE, [blocked], 0.0).splitlines() == [
        "failed: units … not run, because of lab",
        *LEFT_OUT,
        "make test: 1 of 2 stages in 0 min 0 s: 0 passed, 1 failed",
    ]


def test_a_failure_shows_the_end_of_its_own_output(tmp_path: Path) -> None:
    text = "before\n" + "".join(f"line {number}\n" for number in range(200)) + "after\n"
    failed = Failure(("pytest", "tests/unit"), "exit status 1", len("before\n"), len(text) - len("after\n"))
    lines = report.failure(outcome(tmp_path, text, failed), failed).splitlines()
    assert lines[0].startswith("--- units: pytest tests/unit: exit status 1; complete log: ")
    assert lines[1:-1] == [f"line {number}" for number in range(120, 200)]


def test_a_failure_names_errors_from_further_up(tmp_path: Path) -> None:
    text = "ERROR: a.py:1: bad\nno ERROR\n" + "".join(f"line {number}\n" for number in range(80))
    failed = Failure(("ansible-test",), "exit status 1", 0, len(text))
    lines = report.failure(outcome(tmp_path, text, failed), failed).splitlines()
    assert lines[1:3] == ["ERROR: a.py:1: bad", "line 0"]


def test_the_end_shows_times_failures_overruns_and_what_did_not_run(tmp_path: Path) -> None:
    text = "line\nFAILED tests/a.py::b - AssertionError\n= 1 failed, 6 passed in 3.21s =\n"
    failed = outcome(tmp_path, text, Failure(("pytest",), "exit status 1", 0, len(text)))
    assert report.closing(SUITE, [Outcome(OTHER, 91.0), failed], 72.0).splitlines() == [
        "passed: other 91 s (share 60 s)",
        "FAILED: units 12 s (share 60 s)",
        "failed: units … FAILED in 12 s (share 60 s): 1 failed, 6 passed",
        "  FAILED tests/a.py::b - AssertionError",
        "too slow: other took 91 s, 1.5 times its share of 60 s",
        *OTHER_SUITES,
        "make test: 2 of 2 stages in 1 min 12 s (1 min by the shares): 1 passed, 1 failed",
    ]


def test_the_end_names_what_this_machine_cannot_run(tmp_path: Path) -> None:
    log = tmp_path / "other.log"
    log.write_text("$ python\nnot run: units on Python 3.7: install it\nall passed\n")
    outcomes = [Outcome(OTHER, 60.0, log=log), Outcome(STAGE, unavailable="no Go: apt-get install golang")]
    assert report.closing(SUITE, outcomes, 60.0).splitlines() == [
        "passed: other 60 s (share 60 s)",
        "not run: units: no Go: apt-get install golang",
        "not run: units on Python 3.7: install it",
        *OTHER_SUITES,
        "make test: 2 of 2 stages in 1 min 0 s (1 min by the shares): 1 passed, 0 failed, 1 not run on this machine",
    ]


def test_a_stage_within_half_more_than_its_share_is_not_too_slow() -> None:
    assert "too slow" not in report.closing(SUITE, [Outcome(OTHER, 90.0)], 90.0)


def test_the_end_shows_the_last_lines_where_none_names_an_error(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(9))
    failed = outcome(tmp_path, text, Failure(("x",), "exit status 1", 0, len(text)))
    lines = report.closing(SUITE, [failed], 0.0).splitlines()
    assert [line for line in lines if line.startswith("  ")] == [f"  line {number}" for number in range(5, 9)]


def test_the_end_shows_the_message_of_a_task_rather_than_that_of_a_play(tmp_path: Path) -> None:
    fatal = "fatal: [v1]: FAILED! => " + "x" * 120
    text = f"ERROR    [v1 > side_effect] \x1b[31mExecuted: Failed\x1b[0m\n\x1b[0;31m{fatal}\x1b[0m\nERROR    code 2\n"
    failed = outcome(tmp_path, text, Failure(("molecule",), "exit status 1", 0, len(text)))
    lines = report.closing(SUITE, [failed], 0.0).splitlines()
    complaints = ["  ERROR    [v1 > side_effect] Executed: Failed", "  ERROR    code 2"]
    assert [line for line in lines if line.startswith("  ")] == [f"  {fatal}", *complaints]


def test_the_failed_task_of_a_playbook_in_a_test_is_named(tmp_path: Path) -> None:
    text = "E       AssertionError: \nE         fatal: [n1]: FAILED! => no\nFAILED tests/a.py::b - AssertionError: \n"
    failed = outcome(tmp_path, text, Failure(("pytest",), "exit status 1", 0, len(text)))
    lines = report.closing(SUITE, [failed], 0.0).splitlines()
    named = [line for line in lines if line.startswith("  ")]
    assert named == ["  fatal: [n1]: FAILED! => no", "  FAILED tests/a.py::b - AssertionError: "]


def test_progress_is_one_short_line() -> None:
    assert report.progress("[1/2]", "units", 30.2, "x" * 300) == f"[1/2] units … 30 s  {'x' * 100}"
