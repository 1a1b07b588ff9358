# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sandboxes that run in parallel."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from .sandbox import Sandbox

Task = TypeVar("Task")
Result = TypeVar("Result")


class Pool:
    """Sandboxes, each of which runs one task at a time."""

    def __init__(self, sandboxes: Sequence[Sandbox]) -> None:
        self._free: queue.Queue[Sandbox] = queue.Queue()
        self._count = len(sandboxes)
        for workplace in sandboxes:
            self._free.put(workplace)

    def map(self, function: Callable[[Task, Sandbox], Result], tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
        """(task, result) pairs in the order in which the tasks finish."""
        with ThreadPoolExecutor(self._count) as executor:
            futures = {executor.submit(self._run, function, task): task for task in tasks}
            try:
                yield from ((futures[future], future.result()) for future in as_completed(futures))
            finally:
                executor.shutdown(cancel_futures=True)

    def _run(self, function: Callable[[Task, Sandbox], Result], task: Task) -> Result:
        workplace = self._free.get()
        try:
            return function(task, workplace)
        finally:
            self._free.put(workplace)
