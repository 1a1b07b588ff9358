# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that `make test` prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from .execution import Failure, Outcome, tail_of
from .suites import SUITES, Suite, duration

TAIL = 80
"""Lines of a failed command's output that are printed; the log has all of them."""

REASON_LINES = 4
"""Lines with the reason of a failure that are printed again at the end."""

WIDTH = 100

REASON_WIDTH = 400
"""Characters of such a line; the end of an Ansible message often has the important value."""

TOLERANCE = 1.5
"""A stage that takes longer than this multiple of its share is reported as too slow."""

NOT_RUN = "not run: "
"""Beginning of lines about parts of a stage that this machine cannot run; they are printed again at the end."""

_COMPLAINT = re.compile(r"(ERROR|FAILED|FATAL)\b")

_TASK = re.compile(r"(?:E\s+)?(\[ERROR\]: .*|fatal: \[.*)")
"""Ansible's message about a failed task, also in the message of a test, which says more than what reports it."""

_COLOR = re.compile(r"\x1b\[[0-9;]*m")

_PYTEST = re.compile(r"^(?:=+ )?(\d+ (?:passed|failed|error).*?) in [\d.]+s", re.MULTILINE)


def progress(place: str, name: str, seconds: float, line: str) -> str:
    return f"{place} {name} … {seconds:.0f} s  {line[:WIDTH]}".rstrip()


def verdict(place: str, outcome: Outcome) -> str:
    """One line about a stage, with the counts of pytest where it has them."""
    if outcome.unavailable:
        return f"{place} {outcome.stage.name} … not run on this machine: {outcome.unavailable}"
    if outcome.blocked_by:
        return f"{place} {outcome.stage.name} … not run, because of {', '.join(outcome.blocked_by)}"
    word = "ok" if outcome.passed else "FAILED"
    counts = ", ".join(_PYTEST.findall(tail_of(outcome.log, 1 << 16)))
    line = f"{place} {outcome.stage.name} … {word} in {outcome.seconds:.0f} s (share {outcome.stage.share} s)"
    return f"{line}: {counts}" if counts else line


def failure(outcome: Outcome, failed: Failure) -> str:
    """The end of a failed command's output, after earlier lines that name an error."""
    lines = _output_of(outcome, failed)
    heading = f"--- {outcome.stage.name}: {shlex.join(failed.command)}: {failed.reason}; complete log: {outcome.log}"
    named = [line for line in lines[:-TAIL] if _COMPLAINT.match(line)]
    return "\n".join([heading, *named[-TAIL:], *lines[-TAIL:], "---"])


def journal(name: str, text: str) -> str:
    return "\n".join([f"--- journal of node {name}", *text.splitlines()[-TAIL:], "---"])


def closing(suite: Suite, outcomes: Sequence[Outcome], seconds: float) -> str:
    """The end of the output, which a reader sees first: times, failures, and what did not run."""
    failed = [outcome for outcome in outcomes if outcome.failed]
    return "\n".join(
        [
            *_times(outcomes),
            *(line for outcome in failed for line in _failure_lines(outcome)),
            *_overruns(outcomes),
            *_not_run(suite, outcomes),
            *(f"{NOT_RUN}make {other.name}: {other.runs} ({duration(other)})" for other in _other_suites(suite)),
            _total(suite, outcomes, seconds),
        ]
    )


def _total(suite: Suite, outcomes: Sequence[Outcome], seconds: float) -> str:
    counts = (
        f"{sum(outcome.passed for outcome in outcomes)} passed, {sum(outcome.failed for outcome in outcomes)} failed"
    )
    unavailable = sum(bool(outcome.unavailable) for outcome in outcomes)
    more = f", {unavailable} not run on this machine" if unavailable else ""
    whole = f" ({duration(suite)} by the shares)" if len(outcomes) == len(suite.stages) else ""
    took = f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"make {suite.name}: {len(outcomes)} of {len(suite.stages)} stages in {took}{whole}: {counts}{more}"


def _times(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        f"{'passed' if outcome.passed else 'FAILED'}: {outcome.stage.name} {outcome.seconds:.0f} s"
        f" (share {outcome.stage.share} s)"
        for outcome in outcomes
        if not outcome.blocked_by and not outcome.unavailable
    ]


def _overruns(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        f"too slow: {outcome.stage.name} took {outcome.seconds:.0f} s,"
        f" {outcome.seconds / outcome.stage.share:.1f} times its share of {outcome.stage.share} s"
        for outcome in outcomes
        if outcome.seconds > TOLERANCE * outcome.stage.share
    ]


def _not_run(suite: Suite, outcomes: Sequence[Outcome]) -> list[str]:
    """Stages, and parts of stages, that did not run, and why."""
    unavailable = [
        f"{NOT_RUN}{outcome.stage.name}: {outcome.unavailable}" for outcome in outcomes if outcome.unavailable
    ]
    parts = [line for outcome in outcomes for line in _log(outcome).splitlines() if line.startswith(NOT_RUN)]
    named = {outcome.stage.name for outcome in outcomes}
    unselected = [stage.name for stage in suite.stages if stage.name not in named]
    command = f'make {suite.name} STAGES="{" ".join(unselected)}"'
    return [*unavailable, *parts, *([f"{NOT_RUN}{command}"] if unselected else [])]


def _other_suites(suite: Suite) -> list[Suite]:
    return [other for other in SUITES if other.name != suite.name]


def _log(outcome: Outcome) -> str:
    return outcome.log.read_text(encoding="utf-8", errors="replace") if outcome.log.is_file() else ""


def _failure_lines(outcome: Outcome) -> list[str]:
    """A failed stage with the first lines that name the reason, or its last lines."""
    commands = [_output_of(outcome, failed) for failed in outcome.failures]
    return [
        verdict("failed:", outcome),
        *(f"  {line[:REASON_WIDTH]}" for lines in commands for line in _reasons(lines)),
    ]


def _reasons(lines: Sequence[str]) -> list[str]:
    tasks = dict.fromkeys(match[1] for line in lines if (match := _TASK.match(line)))
    complaints = dict.fromkeys(line for line in lines if _COMPLAINT.match(line))
    return [*list(tasks)[:REASON_LINES], *list(complaints)[:REASON_LINES]] or list(lines[-REASON_LINES:])


def _output_of(outcome: Outcome, failed: Failure) -> list[str]:
    with outcome.log.open("rb") as log:
        log.seek(failed.begin)
        text = log.read(failed.end - failed.begin).decode(errors="replace")
    return _COLOR.sub("", text).splitlines()
