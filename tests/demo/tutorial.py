# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/tutorial.md as steps: the files that it creates, its commands, and screens, which are parts of their output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = (TUTORIAL, ROOT / "README.md")
"""Pages with screens."""

_STEP = re.compile(
    r"^## (?P<title>[^\n]+)$"
    r"|^`(?P<path>[\w./-]+)`:\n\n```yaml\n(?P<content>.*?)^```$"
    r"|^```console\n(?P<commands>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SCREEN = re.compile(
    r'(?P<head>^<!-- screen (?P<number>\d+), from "(?P<first>[^"]+)" to "(?P<last>[^"]+)" -->\n```(?:text|diff)\n)'
    r"(?P<text>.*?)(?P<end>^```$)",
    re.MULTILINE | re.DOTALL,
)
_FRAME = re.compile(r"$|(TASK|PLAY) \[|(ok|changed|skipping|included): |skipping|\}$")
"""Lines of Ansible itself. Screens omit them."""

_VOLATILE = (
    (re.compile(r"[0-9a-f]{12,}(_[0-9a-f]{4,})*"), "ID"),
    (re.compile(r"\bkernel \S+"), "kernel VERSION"),
    (re.compile(r"\b(ok|skipped)=\d+"), r"\1=N"),
    # While the drivers differ, kubelet stops and starts pods again a few times after it has started.
    (re.compile(r"\b\d+ (pod\(s\)|misplaced|container|running|in kubepods)"), r"N \1"),
    (re.compile(r'"checksum":\d+'), '"checksum":N'),
    (re.compile(r", (\d+ min )?\d+ s$"), ", DURATION"),
    (re.compile(r"\s+"), " "),
)
_VARYING = re.compile(r"cri-containerd[-:]|: applying, |^ +and \d+ more$")
"""Lines of which another run prints others: examples of containers, and progress by time."""


class BadPage(ValueError):
    """A page whose steps or screens cannot be read."""


class WrongScreen(ValueError):
    """A screen of a page has lines that the command does not print."""


@dataclass(frozen=True)
class FileStep:
    """A file that the reader creates, by its path from the directory of the inventory."""

    path: str
    content: str


@dataclass(frozen=True)
class CommandStep:
    """``title``: the heading above the command."""

    title: str
    command: str


def steps(page: str) -> tuple[FileStep | CommandStep, ...]:
    """All steps of the tutorial in their order."""
    page_steps: list[FileStep | CommandStep] = []
    title = ""
    for match in _STEP.finditer(page):
        if match["title"]:
            title = match["title"]
        elif match["path"]:
            page_steps.append(FileStep(match["path"], match["content"]))
        else:
            page_steps += [CommandStep(title, command) for command in match["commands"].splitlines()]
    return tuple(page_steps)


def screen_lines(output: str) -> list[str]:
    """The lines of a command's output without those of Ansible's frame."""
    return [line.rstrip() for line in output.splitlines() if not _FRAME.match(line)]


def excerpt(lines: Sequence[str], first: str, last: str) -> str:
    """The lines from the one that contains ``first`` to the next that contains ``last``, each with its line end."""
    start = next((number for number, line in enumerate(lines) if first in line), None)
    if start is None:
        raise BadPage(f"no line of the output has {first!r}")
    end = next((number for number, line in enumerate(lines) if number >= start and last in line), None)
    if end is None:
        raise BadPage(f"no line of the output after {first!r} has {last!r}")
    return "".join(f"{line}\n" for line in lines[start : end + 1])


def record(page: str, outputs: Mapping[int, str]) -> str:
    """The page with current screens. ``outputs``: by the number of the tutorial's command, from 1."""

    def current(match: re.Match[str]) -> str:
        lines = screen_lines(outputs[int(match["number"])])
        return match["head"] + excerpt(lines, match["first"], match["last"]) + match["end"]

    return _SCREEN.sub(current, page)


def check(name: str, page: str, outputs: Mapping[int, str]) -> None:
    """WrongScreen if a screen has a line that was not printed; values that change with each run do not count."""
    for match in _SCREEN.finditer(page):
        printed = set(map(_stable, screen_lines(outputs[int(match["number"])])))
        lines = [line for line in match["text"].splitlines() if not _VARYING.search(line)]
        missing = [line for line in lines if _stable(line) not in printed]
        if missing:
            listing = "\n".join(f"    {line}" for line in missing)
            raise WrongScreen(
                f"{name}: command {match['number']} of the tutorial did not print these lines:\n{listing}\n"
                "If the output is right, record the screens again: python3 tests/demo --record"
            )


def screens(page: str) -> list[int]:
    """The numbers of the commands of which the page has a screen."""
    return [int(match["number"]) for match in _SCREEN.finditer(page)]


def _stable(line: str) -> str:
    for pattern, text in _VOLATILE:
        line = pattern.sub(text, line)
    return line.strip()
