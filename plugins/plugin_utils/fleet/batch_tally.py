# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of one batch of hosts in a play with ``serial``: which hosts, their result, the time of each step."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.host_groups import LimitOption
from ..report.node_block import render_line
from ..report.readable_numbers import render_count, render_seconds
from .task_tally import Line, Outcome

LONG = 1.0
"""Seconds from which a step is named."""
MAX_STEPS = 4
_WORST = tuple(Outcome)


class BatchTally:
    """The results of the batch so far. Seconds are those of a monotonic clock."""

    def __init__(self, began: float) -> None:
        self._began = self._ended = began
        self._outcomes: dict[str, Outcome] = {}
        self._steps: dict[str, float] = {}

    def add(self, host: str, outcome: Outcome, step: str, seconds: float, now: float) -> None:
        """Add the result of a step. The longest time of a step on any host is kept, and the worst outcome of a host."""
        before = self._outcomes.get(host, Outcome.SKIPPED)
        self._outcomes[host] = min(before, outcome, key=_WORST.index)
        self._steps[step] = max(seconds, self._steps.get(step, 0.0))
        self._ended = now

    def render(self, done: int, total: int, limit: LimitOption) -> Iterator[Line]:
        """One line for each outcome. ``done``: hosts of the play in this batch and those before it."""
        long_steps = sorted(self._steps.items(), key=lambda step: -step[1])[:MAX_STEPS]
        named = [step for step, seconds in long_steps if seconds >= LONG]
        steps = "; ".join(f"{step} {render_seconds(self._steps[step])}" for step in self._steps if step in named)
        time = render_seconds(self._ended - self._began) + (f" ({steps})" if steps else "")
        for outcome in Outcome:
            hosts = [host for host, worst in self._outcomes.items() if worst is outcome]
            if hosts:
                several = f"{render_count(len(hosts))} {limit(outcome.value, hosts)}".rstrip()
                label = hosts[0] if len(hosts) == 1 else several
                yield Line(render_line(f"  {done} of {total}: {label}: {outcome.value}, {time}"), outcome)
