# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the named stages, or all stages of a suite; `make test` and similar targets call it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial

from . import history, places, report
from .execution import Outcome, run_stage
from .nodes import Lab
from .schedule import execute
from .stages import Stage, UnknownStageError, select
from .suites import SUITES, find


def main(arguments: Sequence[str]) -> int:
    """Run the stages; 1 if one failed (in continuous integration also if one did not run), 2 if a name is unknown."""
    parsed = _parser().parse_args(arguments)
    suite = find(parsed.suite)
    try:
        stages = select(parsed.names, suite.stages)
    except UnknownStageError as error:
        print(error, file=sys.stderr)
        return 2
    # A cancelled job also takes its nodes down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    places.LOGS.mkdir(parents=True, exist_ok=True)
    began, busy = time.monotonic(), history.busy_seconds()
    try:
        outcomes = run(stages, os.environ)
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    seconds = time.monotonic() - began
    try:
        history.save(suite.name, outcomes, seconds, history.busy_seconds() - busy)
    except OSError as error:
        say(f"the run is not recorded: {error}")
    say(report.closing(suite, outcomes, seconds))
    return status(outcomes, os.environ)


def status(outcomes: Sequence[Outcome], base: Mapping[str, str]) -> int:
    """The exit status. A stage that this machine cannot run is a failure only in continuous integration (CI=true)."""
    if base.get("CI", "") in ("", "0", "false"):
        return 1 if any(outcome.failed for outcome in outcomes) else 0
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__)
    names = [suite.name for suite in SUITES if suite.stages]
    parser.add_argument("--suite", choices=names, default=names[0], help="suite whose stages run; default: %(default)s")
    parser.add_argument("names", nargs="*", metavar="STAGE")
    return parser


def run(stages: Sequence[Stage], base: Mapping[str, str]) -> list[Outcome]:
    """Run the stages and print their progress."""
    stop = threading.Event()
    numbers = {stage.name: f"[{number}/{len(stages)}]" for number, stage in enumerate(stages, 1)}
    outcomes = execute(stages, lambda stage: run_one(stage, numbers[stage.name], base, stop), stop)
    for outcome in outcomes:
        if outcome.blocked_by:
            say(report.verdict(numbers[outcome.stage.name], outcome))
    return outcomes


def run_one(stage: Stage, place: str, base: Mapping[str, str], stop: threading.Event) -> Outcome:
    """Run a stage, print its failures, and take its nodes down."""
    environment = places.stage_environment(base, stage.name)
    lab = Lab(places.CHECKOUT, environment)
    say(f"{place} {stage.name} … share {stage.share} s")
    try:
        beat = partial(say_progress, place, stage.name)
        outcome = run_stage(stage, places.LOGS / f"{stage.name}.log", places.CHECKOUT, environment, beat, stop)
        show_failures(outcome, lab)
    finally:
        lab.down()
    say(report.verdict(place, outcome))
    return outcome


def show_failures(outcome: Outcome, lab: Lab) -> None:
    """Print journals of nodes, then failures: a reader looks first at the end of a long output."""
    if not outcome.failures:
        return
    for name in lab.names():
        journal = lab.journal(name)
        (places.LOGS / f"journal-{name}.log").write_text(journal)
        say(report.journal(name, journal))
    for failed in outcome.failures:
        say(report.failure(outcome, failed))


def say_progress(place: str, name: str, seconds: float, line: str) -> None:
    say(report.progress(place, name, seconds, line))


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
