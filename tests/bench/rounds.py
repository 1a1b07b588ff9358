# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the contestants: first one change of the node, then the rounds on the aligned node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .contestants import Contestant
from .cost import Cost, run_measured
from .node import BenchNode
from .places import LOGS, OUTPUT, RECORD_VARIABLE
from .record import Record, parse_record
from .verbose import Trace, parse_trace

Say = Callable[[str], None]


class RunFailed(Exception):
    """A contestant failed; the message names its log."""


@dataclass(frozen=True)
class Run:
    """One run of a contestant; ``trace`` is empty unless it ran with -vvv."""

    cost: Cost
    record: Record
    trace: Trace = field(default_factory=Trace)

    @property
    def net(self) -> float:
        """Wall seconds without those of the node's own programs."""
        return self.cost.wall - self.record.program_seconds


@dataclass(frozen=True)
class Runner:
    """Runs contestants on one node."""

    node: BenchNode
    inventory: Path
    environment: Mapping[str, str]
    say: Say

    def timed(self, contestant: Contestant, label: str) -> Run:
        return self._run(contestant, label, ())

    def traced(self, contestant: Contestant, label: str) -> Run:
        """A run that prints its module executions (-vvv), which takes slightly longer."""
        return self._run(contestant, label, ("-vvv",))

    def _run(self, contestant: Contestant, label: str, more: Sequence[str]) -> Run:
        log, record = LOGS / f"{label}.log", LOGS / f"{label}.jsonl"
        record.write_text("")
        self.node.warm()
        argv = (*contestant.argv(self.inventory, self.node.name), *more)
        status, cost = run_measured(argv, log, {**self.environment, RECORD_VARIABLE: str(record)}, OUTPUT)
        if status != 0:
            raise RunFailed(f"{label}: exit status {status}; its output is in {log}")
        run = Run(cost, parse_record(record.read_text()), parse_trace(log.read_text(errors="replace")))
        self.say(f"{label}: {cost.wall:.1f} s, {run.record.changed} task(s) changed something")
        return run


@dataclass(frozen=True)
class Runs:
    """``change``: on the misaligned node; ``counted``: one run of each with -vvv; ``rounds``: the compared runs."""

    change: Run
    counted: Mapping[Contestant, Run]
    rounds: Mapping[Contestant, Sequence[Run]]


def all_runs(runner: Runner, rounds: int) -> Runs:
    """All runs on the node. RunFailed if a run fails, or changes a node that must be aligned already."""
    change = runner.traced(Contestant.PROVISION, "provision-misaligned")
    # The stock playbook formats the same settings differently, once; after that no contestant may change anything.
    runner.timed(Contestant.STOCK, "stock-first")
    counted = {
        contestant: unchanging(runner.traced(contestant, f"{contestant.value}-counted"), contestant)
        for contestant in Contestant
    }
    runs: dict[Contestant, list[Run]] = {contestant: [] for contestant in Contestant}
    for number in range(1, rounds + 1):
        for contestant in contestant_order(number):
            run = runner.timed(contestant, f"{contestant.value}-{number}")
            runs[contestant].append(unchanging(run, contestant))
    return Runs(change, counted, runs)


def contestant_order(number: int) -> Sequence[Contestant]:
    """The order of a round; each round starts with another contestant, to vary the predecessor of each."""
    order = list(Contestant)
    first = number % len(order)
    return order[first:] + order[:first]


def unchanging(run: Run, contestant: Contestant) -> Run:
    if run.record.changed:
        names = ", ".join(task.name for task in run.record.tasks if task.changed)
        raise RunFailed(f"{contestant.value} changed an aligned node: {names}")
    return run
