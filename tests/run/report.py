# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that `make test` prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from .execution import Failure, Outcome, tail_of

TAIL = 80
"""Lines of a failed command's output; all of it is in the log."""

FEW = 4
"""Lines of it that are told again at the very end."""

WIDTH = 100

_COMPLAINT = re.compile(r"(ERROR|FAILED|FATAL)\b")

_PYTEST = re.compile(r"^(?:=+ )?(\d+ (?:passed|failed|error).*?) in [\d.]+s", re.MULTILINE)


def progress(place: str, name: str, seconds: float, line: str) -> str:
    return f"{place} {name} … {seconds:.0f} s  {line[:WIDTH]}".rstrip()


def verdict(place: str, outcome: Outcome) -> str:
    """One line on a stage, with pytest's own count where there is one."""
    if outcome.blocked_by:
        return f"{place} {outcome.stage.name} … not run, because of {', '.join(outcome.blocked_by)}"
    word = "ok" if outcome.passed else "FAILED"
    counts = ", ".join(_PYTEST.findall(tail_of(outcome.log, 1 << 16)))
    line = f"{place} {outcome.stage.name} … {word} in {outcome.seconds:.0f} s (share {outcome.stage.share} s)"
    return f"{line}: {counts}" if counts else line


def failure(outcome: Outcome, failed: Failure) -> str:
    """The end of what a failed command wrote, after the lines further up that name an error."""
    lines = _output_of(outcome, failed)
    heading = f"--- {outcome.stage.name}: {shlex.join(failed.command)}: {failed.reason}; all of it: {outcome.log}"
    named = [line for line in lines[:-TAIL] if _COMPLAINT.match(line)]
    return "\n".join([heading, *named[-TAIL:], *lines[-TAIL:], "---"])


def journal(name: str, text: str) -> str:
    return "\n".join([f"--- journal of node {name}", *text.splitlines()[-TAIL:], "---"])


def closing(outcomes: Sequence[Outcome], seconds: float) -> str:
    """What passed and what did not, told once more at the end: of a long output that is what is looked at first."""
    passed = [outcome for outcome in outcomes if outcome.passed]
    failed = [outcome for outcome in outcomes if not outcome.passed]
    counts = f"stages: {len(passed)} passed, {len(failed)} failed in {seconds // 60:.0f} min {seconds % 60:.0f} s"
    took = [f"passed: {', '.join(f'{outcome.stage.name} {outcome.seconds:.0f} s' for outcome in passed)}"]
    return "\n".join([*(took if passed else ()), *(line for outcome in failed for line in _lost(outcome)), counts])


def _lost(outcome: Outcome) -> list[str]:
    """A failed stage with the first lines that say why, or the last it wrote."""
    commands = [_output_of(outcome, failed) for failed in outcome.failures]
    why = [[line for line in lines if _COMPLAINT.match(line)][:FEW] or lines[-FEW:] for lines in commands]
    return [verdict("failed:", outcome), *(f"  {line[:WIDTH]}" for lines in why for line in lines)]


def _output_of(outcome: Outcome, failed: Failure) -> list[str]:
    with outcome.log.open("rb") as log:
        log.seek(failed.begin)
        return log.read(failed.end - failed.begin).decode(errors="replace").splitlines()
