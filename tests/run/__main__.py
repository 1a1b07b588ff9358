# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the stages that are named, all when none is; `make test` calls it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from . import places, report
from .execution import Outcome, run_stage
from .nodes import Lab
from .stages import Stage, UnknownStageError, select


def main(names: Sequence[str]) -> int:
    """Run the stages; 1 when one failed or did not run, 2 when a name is unknown."""
    try:
        stages = select(names)
    except UnknownStageError as error:
        print(error, file=sys.stderr)
        return 2
    # A job that is cancelled ends its nodes, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    environment = places.tool_environment(os.environ)
    lab = Lab(places.CHECKOUT, environment)
    places.LOGS.mkdir(parents=True, exist_ok=True)
    try:
        outcomes = run(stages, environment, lab)
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    finally:
        lab.down()
    say(report.closing(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def run(stages: Sequence[Stage], environment: Mapping[str, str], lab: Lab) -> list[Outcome]:
    """Run one stage after the other, and tell how it goes."""
    outcomes: list[Outcome] = []
    for number, stage in enumerate(stages, 1):
        place = f"[{number}/{len(stages)}]"
        failed = {outcome.stage.name for outcome in outcomes if not outcome.passed}
        blocked_by = tuple(name for name in stage.needs if name in failed)
        if blocked_by:
            outcome = Outcome(stage, blocked_by=blocked_by)
        else:
            say(f"{place} {stage.name} … share {stage.share} s")
            beat = partial(tell, place, stage.name)
            outcome = run_stage(stage, places.LOGS / f"{stage.name}.log", places.CHECKOUT, environment, beat)
        outcomes.append(outcome)
        show_failures(outcome, lab)
        say(report.verdict(place, outcome))
    return outcomes


def show_failures(outcome: Outcome, lab: Lab) -> None:
    for failed in outcome.failures:
        say(report.failure(outcome, failed))
    if not outcome.failures:
        return
    for name in lab.names():
        journal = lab.journal(name)
        (places.LOGS / f"journal-{name}.log").write_text(journal)
        say(report.journal(name, journal))


def tell(place: str, name: str, seconds: float, line: str) -> None:
    say(report.progress(place, name, seconds, line))


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
