# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play over many hosts: its tasks and batches so far, and the lines that are due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..report.host_groups import LimitOption
from .batch_tally import BatchTally
from .task_tally import PROBLEMS, Line, Outcome, TaskTally


@dataclass(frozen=True)
class PlayScope:
    """``in_lockstep``: a task ends on all hosts before the next begins. ``has_batches``: the play has ``serial``.

    ``shows_batches``: each batch is shown when it ends, because it changes hosts.
    """

    uuid: str
    hosts: int
    limit: LimitOption
    in_lockstep: bool = True
    has_batches: bool = False
    shows_batches: bool = False
    shows_ok: bool = True


class FleetPlay:
    """Methods return the lines that are due. Seconds are those of a monotonic clock."""

    def __init__(self, scope: PlayScope) -> None:
        self.scope = scope
        self._tasks: dict[str, TaskTally] = {}
        self._by_uuid: dict[str, TaskTally] = {}
        self._batch: BatchTally | None = None
        self._done: set[str] = set()

    def begin_batch(self, now: float) -> Iterator[Line]:
        yield from self._end_batch()
        self._batch = BatchTally(now)

    def begin_task(self, uuid: str, key: str, tally: TaskTally, now: float) -> Iterator[Line]:
        """A task begins. ``key``: the same for one task in all batches, where its ``uuid`` may differ.

        ``tally`` is used if the task is new.
        """
        if self.scope.in_lockstep and not self.scope.has_batches and key not in self._tasks:
            yield from self._end_tasks()
        tally = self._tasks.setdefault(key, tally)
        tally.resume(now)
        self._by_uuid[uuid] = tally

    def has_task(self, uuid: str) -> bool:
        return uuid in self._by_uuid

    def task(self, uuid: str) -> TaskTally:
        return self._by_uuid[uuid]

    def end_host(self, tally: TaskTally, host: str, outcome: Outcome, now: float) -> None:
        """The task has ended on a host."""
        seconds = tally.end(host, outcome, now)
        self._done.add(host)
        if self._batch:
            self._batch.add(host, outcome, tally.name, seconds, now)

    def end(self) -> Iterator[Line]:
        """The play ends."""
        yield from self._end_batch()
        yield from self._end_tasks()

    def running(self, now: float) -> Iterator[str]:
        """The tasks that run now."""
        yield from (tally.render_running(now) for tally in [*self._tasks.values()] if tally.running)

    def _end_batch(self) -> Iterator[Line]:
        """The line of the batch. Messages without a problem wait for those of the other batches."""
        limit = self.scope.limit
        if self._batch and self.scope.shows_batches:
            for tally in self._tasks.values():
                yield from tally.render_texts(limit, PROBLEMS)
                yield from tally.render_diffs(limit)
            yield from self._batch.render(len(self._done), self.scope.hosts, limit)

    def _end_tasks(self) -> Iterator[Line]:
        for tally in self._tasks.values():
            if tally.has_news() and (self.scope.shows_ok or tally.worst() is not Outcome.OK):
                yield tally.render_counts()
            yield from tally.render_texts(self.scope.limit)
            yield from tally.render_diffs(self.scope.limit)
        self._tasks.clear()
        self._by_uuid.clear()
