# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Example runs with the figures that the benchmark measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ansible_collections.volcano.colocation.tests.bench.contestants import Contestant
from ansible_collections.volcano.colocation.tests.bench.cost import Cost
from ansible_collections.volcano.colocation.tests.bench.record import Record, Task
from ansible_collections.volcano.colocation.tests.bench.rounds import Run, Runs
from ansible_collections.volcano.colocation.tests.bench.verbose import Trace

ALIGNED = Trace(Counter({"node_snapshot": 1}), 1)
CHANGED = Trace(Counter({"node_snapshot": 2, "node_transaction": 5}), 7)


def usage(executions: int, polls: int = 0, planning_ms: float = 5.0) -> dict[str, Any]:
    return {"module_executions": executions, "polls": polls, "planning_ms": planning_ms, "program_seconds": 1.0}


def task(**values: Any) -> Task:
    defaults: dict[str, Any] = {
        "action": "volcano.colocation.node_align",
        "name": "Look at the node and plan",
        "status": "ok",
        "changed": False,
        "seconds": 3.0,
        "program_seconds": 1.0,
    }
    return Task(**{**defaults, **values})


def run(wall: float, *tasks: Task, trace: Trace | None = None) -> Run:
    return Run(Cost(wall, wall / 2, 60.0), Record(tasks), trace or Trace())


def provision(wall: float) -> Run:
    return run(wall, task(usage=usage(1)))


def all_runs(
    pings: Sequence[float] = (2.0, 2.0),
    provisions: Sequence[float] = (4.0, 5.0),
    stocks: Sequence[float] = (20.0, 10.0),
    change: Run | None = None,
    counted: Run | None = None,
) -> Runs:
    """Aligned provision takes 3 and 4 s without the node's own programs."""
    return Runs(
        change
        or run(60.0, task(usage=usage(1, planning_ms=40.0)), task(usage=usage(2, 4), changed=True), trace=CHANGED),
        {
            Contestant.PING: run(2.0, trace=Trace(Counter({"ping": 1}), 1)),
            Contestant.PROVISION: counted or run(4.0, task(usage=usage(1)), trace=ALIGNED),
            Contestant.STOCK: run(20.0, trace=Trace(Counter({"stat": 3, "setup": 1}), 4)),
        },
        {
            Contestant.PING: [run(wall) for wall in pings],
            Contestant.PROVISION: [provision(wall) for wall in provisions],
            Contestant.STOCK: [run(wall) for wall in stocks],
        },
    )


def qos_round(bare: float, read: float, raw: float, again: int = 0) -> dict[str, Any]:
    """A round in the form that qos_settings.py prints."""
    figures = {
        "bare": (bare, 3000),
        "read": (read, 0),
        "raw": (raw, 3000),
        "whole": (10 * raw, 3001),
        "again": (5 * raw, again),
    }
    return {name: {"cpu_ms": took, "written": count} for name, (took, count) in figures.items()}
