# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the callback plugin's record of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """One task on the node; ``usage`` is that key of the result of the collection's action plugins."""

    action: str
    name: str
    status: str
    changed: bool
    seconds: float
    program_seconds: float
    usage: dict[str, Any] | None = None


@dataclass(frozen=True)
class Record:
    """All tasks of a run, and their sums."""

    tasks: tuple[Task, ...] = ()

    @property
    def ran(self) -> int:
        return sum(task.status != "skipped" for task in self.tasks)

    @property
    def changed(self) -> int:
        return sum(task.changed for task in self.tasks)

    @property
    def program_seconds(self) -> float:
        return sum(task.program_seconds for task in self.tasks)

    @property
    def executions(self) -> int:
        """Module executions that the collection reports, without polls."""
        return sum(usage["module_executions"] for usage in self._usages)

    @property
    def polls(self) -> int:
        return sum(usage["polls"] for usage in self._usages)

    @property
    def planning_ms(self) -> tuple[float, ...]:
        """CPU milliseconds of planning, for each task that planned."""
        return tuple(usage["planning_ms"] for usage in self._usages if usage["planning_ms"])

    @property
    def _usages(self) -> Sequence[dict[str, Any]]:
        return [task.usage for task in self.tasks if task.usage]


def parse_record(lines: str) -> Record:
    """The Record of the callback plugin's JSON lines."""
    return Record(tuple(Task(**json.loads(line)) for line in lines.splitlines() if line))
