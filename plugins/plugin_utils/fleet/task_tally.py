# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of one task on many hosts, as a line with counts and the texts that must be read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from ..report.host_groups import LimitOption, group_texts, render_text_groups
from ..report.node_block import render_line
from ..report.readable_numbers import render_count, render_seconds

MAX_TEXTS = 4
"""Groups of texts of one task that are shown."""
NAME_WIDTH = 70
"""Characters of a task's name beside its progress."""
MAX_RUNNING = 3
"""Hosts that are named while a task runs on them."""


class Outcome(Enum):
    """The result of a task on a host, the worst first. ``WARNING`` is only for texts."""

    UNREACHABLE = "unreachable"
    FAILED = "failed"
    IGNORED = "failed and ignored"
    WARNING = "warning"
    CHANGED = "changed"
    OK = "ok"
    SKIPPED = "skipped"


class Line(NamedTuple):
    """A line of the output. ``outcome`` decides its colour."""

    text: str
    outcome: Outcome


class TaskTally:
    """The results of a task so far. Seconds are those of a monotonic clock. ``is_once``: it runs on one host only."""

    def __init__(self, name: str, began: float, *, is_once: bool = False) -> None:
        self.name = name
        self._is_once = is_once
        self.running: dict[str, float] = {}
        self.seconds = 0.0
        self._began = began
        self._outcomes: dict[Outcome, int] = {}
        self._texts: dict[Outcome, list[tuple[str, str]]] = {}
        self._diffs: list[tuple[str, str]] = []

    @property
    def ended(self) -> int:
        """The number of hosts that have ended."""
        return sum(self._outcomes.values())

    def resume(self, now: float) -> None:
        """The task begins again, for the next batch of hosts."""
        self._began = now

    def start(self, host: str, now: float) -> None:
        self.running[host] = now

    def end(self, host: str, outcome: Outcome, now: float) -> float:
        """Count a result; returns the seconds that the task took on the host."""
        self._outcomes[outcome] = self._outcomes.get(outcome, 0) + 1
        self.seconds += now - self._began
        self._began = now
        return now - self.running.pop(host, now)

    def add_text(self, host: str, outcome: Outcome, text: str) -> None:
        if text:
            self._texts.setdefault(outcome, []).append((host, text))

    def add_diff(self, host: str, diff: str) -> None:
        self._diffs.append((host, diff))

    def has_news(self) -> bool:
        """Whether it has anything to show: not if all hosts skipped it, or if its only host was not changed."""
        silent = (Outcome.SKIPPED, Outcome.OK) if self._is_once else (Outcome.SKIPPED,)
        return bool(self._texts or self._diffs) or self.worst() not in silent

    def worst(self) -> Outcome:
        return next((outcome for outcome in Outcome if outcome in self._outcomes), Outcome.SKIPPED)

    def render_counts(self) -> Line:
        """The task with the number of hosts for each outcome, and its time from a second on."""
        counts = [f"{self._outcomes[outcome]} {outcome.value}" for outcome in Outcome if self._outcomes.get(outcome)]
        time = [render_seconds(self.seconds)] if self.seconds >= 1 else []
        return Line(render_line(f"{self.name}: {', '.join([*counts, *time])}"), self.worst())

    def render_texts(self, limit: LimitOption, outcomes: Iterable[Outcome] = Outcome) -> Iterator[Line]:
        """The texts so far of these outcomes, which are then forgotten."""
        for outcome in outcomes:
            groups = group_texts(self._texts.pop(outcome, ()))
            state = outcome.value if outcome in PROBLEMS else ""
            name = f"{outcome.value} {self.name}"
            for line in render_text_groups(groups, name, limit, most=MAX_TEXTS, state=state):
                yield Line(f"  {line}", outcome)

    def render_diffs(self, limit: LimitOption) -> Iterator[Line]:
        """The diffs so far, which are then forgotten; hosts with the same diff are one group."""
        groups = group_texts(self._diffs)
        self._diffs.clear()
        for number, group in enumerate(groups, 1):
            hosts = [render_count(len(group.hosts)), limit(f"diff {self.name}-{number}", group.hosts)]
            yield Line(", ".join(filter(None, hosts)), Outcome.CHANGED)
            yield Line(group.text, Outcome.CHANGED)

    def render_running(self, now: float) -> str:
        """The progress of a task that takes long, with the first hosts that it runs on."""
        running = [*self.running.items()]
        hosts = ", ".join(f"{host} {render_seconds(now - began)}" for host, began in running[:MAX_RUNNING])
        more = f" and {render_count(len(running) - MAX_RUNNING, 'other')}" if len(running) > MAX_RUNNING else ""
        name = textwrap.shorten(self.name, NAME_WIDTH, placeholder=" …")
        return render_line(f"{name}: {render_count(self.ended)} ended; running: {hosts}{more}")


PROBLEMS = (Outcome.UNREACHABLE, Outcome.FAILED, Outcome.IGNORED, Outcome.WARNING)
"""Outcomes that are named before their texts."""
