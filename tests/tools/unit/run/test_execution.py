# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage reports progress, logs all output, and is stopped if it takes too long."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from ansible_collections.volcano.colocation.tests.run.execution import (
    INTERRUPTED,
    OVERRUN,
    UNAVAILABLE,
    Outcome,
    run_stage,
)
from ansible_collections.volcano.colocation.tests.run.stages import Command, Stage


def python(code: str) -> Command:
    return (sys.executable, "-c", code)


def run(tmp_path: Path, *commands: Command, overrun_factor: float = 3.0) -> tuple[Outcome, list[str]]:
    beats: list[str] = []
    stage = Stage("some", 10, commands)
    outcome = run_stage(
        stage,
        tmp_path / "some.log",
        tmp_path,
        os.environ,
        lambda _seconds, line: beats.append(line),
        threading.Event(),
        every=0.2,
        overrun_factor=overrun_factor,
    )
    return outcome, beats


def test_a_stage_whose_commands_succeed_passes(tmp_path: Path) -> None:
    outcome, _beats = run(tmp_path, python("print('one')"), python("import sys; print('two', file=sys.stderr)"))
    assert outcome.passed
    lines = outcome.log.read_text().splitlines()
    assert [line for line in lines if not line.startswith("$")] == ["one", "two"]


def test_later_commands_run_after_a_failure_and_each_output_is_found(tmp_path: Path) -> None:
    outcome, _beats = run(tmp_path, python("print('bad'); raise SystemExit(3)"), python("print('good')"))
    assert not outcome.passed
    (failure,) = outcome.failures
    assert failure.reason == "exit status 3"
    assert outcome.log.read_bytes()[failure.begin : failure.end] == b"bad\n"
    assert "good" in outcome.log.read_text()


def test_a_program_that_is_missing_fails_its_stage(tmp_path: Path) -> None:
    outcome, _beats = run(tmp_path, ("no-such-program",))
    assert [failure.reason for failure in outcome.failures] == [
        "no-such-program does not start: No such file or directory"
    ]


def test_a_command_that_cannot_run_here_ends_the_stage_and_says_what_is_missing(tmp_path: Path) -> None:
    missing = python(f"print('lab: go is not installed'); raise SystemExit({UNAVAILABLE})")
    outcome, _beats = run(tmp_path, missing, python("print('too late')"))
    assert (outcome.unavailable, outcome.failures) == ("lab: go is not installed", ())
    assert not outcome.passed
    assert not outcome.failed
    assert "too late" not in outcome.log.read_text()


def test_a_failure_before_it_is_a_failure(tmp_path: Path) -> None:
    outcome, _beats = run(tmp_path, python("raise SystemExit(3)"), python(f"raise SystemExit({UNAVAILABLE})"))
    assert [failure.reason for failure in outcome.failures] == ["exit status 3", f"exit status {UNAVAILABLE}"]
    assert outcome.failed


def test_a_long_command_is_seen_to_be_alive(tmp_path: Path) -> None:
    _outcome, beats = run(tmp_path, python("import time; print('halfway', flush=True); time.sleep(1)"))
    assert "halfway" in beats


def test_an_overrun_stops_the_command_with_its_children_and_no_other_starts(tmp_path: Path) -> None:
    began = time.monotonic()
    nested = python(f"import subprocess; subprocess.run({python('import time; time.sleep(60)')!r})")
    outcome, _beats = run(tmp_path, nested, python("print('too late')"), overrun_factor=0.1)
    assert [failure.reason for failure in outcome.failures] == [OVERRUN, OVERRUN]
    assert "too late" not in outcome.log.read_text().splitlines()
    assert time.monotonic() - began < 30


def test_no_command_waits_for_input(tmp_path: Path) -> None:
    outcome, _beats = run(tmp_path, python("input()"))
    assert "EOFError" in outcome.log.read_text()
    assert not outcome.passed


def test_an_interruption_stops_the_command_and_no_other_starts(tmp_path: Path) -> None:
    stop = threading.Event()
    stage = Stage("some", 60, (python("import time; time.sleep(60)"), python("print('too late')")))
    began = time.monotonic()
    threading.Timer(0.3, stop.set).start()
    outcome = run_stage(stage, tmp_path / "some.log", tmp_path, os.environ, lambda *_: None, stop)
    assert [failure.reason for failure in outcome.failures] == [INTERRUPTED, INTERRUPTED]
    assert "too late" not in outcome.log.read_text().splitlines()
    assert time.monotonic() - began < 30
