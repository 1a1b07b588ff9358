# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs rows in sequence on a node; the two cgroup versions run at the same time."""

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
"""A moment may be missed, and a node may not start; neither says anything about the collection."""

Say = Callable[[str], None]


class Injector(Protocol):
    """Injects the rows of one cgroup version."""

    def inject(self, row: Row) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Rounds:
    """Injects rows and stores their outcomes with ``code``."""

    results: Results
    code: str
    injector: Callable[[str, Callable[[Outcome], None]], Injector]
    say: Say
    stop: threading.Event

    def run(self, rows: Iterable[Row]) -> None:
        """Inject all rows, those of a cgroup version in order."""
        ordered = sorted(rows, key=_goes_on)
        queues = [[row for row in ordered if row.cgroup == cgroup] for cgroup in NODES]
        with ThreadPoolExecutor(len(queues)) as pool:
            for done in [pool.submit(self._queue, queue) for queue in queues if queue]:
                done.result()

    def _queue(self, rows: list[Row]) -> None:
        """Inject rows; repeat those that were not injected, or whose node was deleted before their next run."""
        completed: set[str] = set()

        def keep(outcome: Outcome) -> None:
            self._keep(outcome)
            if outcome.verdict is not Verdict.NOT_INJECTED:
                completed.add(outcome.row)

        injector = self.injector(rows[0].cgroup, keep)
        for _attempt in range(TRIES):
            for row in rows:
                if self.stop.is_set():
                    return
                if row.name not in completed:
                    injector.inject(row)
            injector.close()

    def _keep(self, outcome: Outcome) -> None:
        if self.stop.is_set():
            # Its node was deleted on interruption.
            return
        self.results.add(replace(outcome, code=self.code, day=date.today().isoformat()))
        self.say(describe_outcome(outcome))


def _goes_on(row: Row) -> tuple[bool, bool]:
    """Sort key: refused runs first, which report nothing about the previous row; rows that align the node last."""
    return (bool(row.fault.strikes), End.COMMITTED in row.fault.ends)


def describe_outcome(outcome: Outcome) -> str:
    """Return a progress line."""
    lead = f"{outcome.row}: {outcome.verdict.value}"
    if outcome.wrong:
        return f"{lead}: {'; '.join(outcome.wrong)[:2000]}"
    return f"{lead}: {outcome.end}; next run: {outcome.following} ({outcome.seconds:.0f} s)"
