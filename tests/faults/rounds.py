# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows in chains, one after the other on a node; the two cgroup versions beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from .fault import End
from .outcome import Outcome, Verdict
from .results import Results
from .rows import NODES, Row

TRIES = 3
"""A fault may be missed by a moment, and a node may not come up: neither says anything about the collection."""

Say = Callable[[str], None]


class Carrier(Protocol):
    """Carries out the rows of one cgroup version."""

    def carry_out(self, row: Row) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Rounds:
    """Carries rows out and keeps what became of them; ``code`` is noted with each."""

    results: Results
    code: str
    carrier: Callable[[str, Callable[[Outcome], None]], Carrier]
    say: Say
    stop: threading.Event

    def run(self, rows: Iterable[Row]) -> None:
        """All rows, those of a cgroup version in order."""
        left = sorted(rows, key=_goes_on)
        queues = [[row for row in left if row.cgroup == cgroup] for cgroup in NODES]
        with ThreadPoolExecutor(len(queues)) as pool:
            for done in [pool.submit(self._queue, queue) for queue in queues if queue]:
                done.result()

    def _queue(self, rows: list[Row]) -> None:
        """A row that was not injected is tried again, and so is one whose next run was lost with its node."""
        settled: set[str] = set()

        def keep(outcome: Outcome) -> None:
            self._keep(outcome)
            if outcome.verdict is not Verdict.NOT_INJECTED:
                settled.add(outcome.row)

        carrier = self.carrier(rows[0].cgroup, keep)
        for _attempt in range(TRIES):
            for row in rows:
                if self.stop.is_set():
                    return
                if row.name not in settled:
                    carrier.carry_out(row)
            carrier.close()

    def _keep(self, outcome: Outcome) -> None:
        if self.stop.is_set():
            # Its node was taken from it.
            return
        self.results.add(replace(outcome, code=self.code, day=date.today().isoformat()))
        self.say(told(outcome))


def _goes_on(row: Row) -> tuple[bool, bool]:
    """A run that is refused at once tells nothing of the row before, and an aligned node meets nothing more."""
    return (bool(row.fault.strikes), End.COMMITTED in row.fault.ends)


def told(outcome: Outcome) -> str:
    """A line for whoever watches."""
    lead = f"{outcome.row}: {outcome.verdict.value}"
    if outcome.wrong:
        return f"{lead}: {'; '.join(outcome.wrong)[:2000]}"
    return f"{lead}: {outcome.end}; next run: {outcome.following} ({outcome.seconds:.0f} s)"
