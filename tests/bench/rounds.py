# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the contestants: the one change of the node, then round after round on the aligned node."""

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
    """A contestant did not end well; the message names its log."""


@dataclass(frozen=True)
class Run:
    """One run of a contestant; ``trace`` is empty unless it ran with -vvv."""

    cost: Cost
    record: Record
    trace: Trace = field(default_factory=Trace)

    @property
    def net(self) -> float:
        """Wall seconds without those that the node's own programs took."""
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
        """A run that tells of its module executions. It prints more, and so costs a little more."""
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
    """``change``: the misaligned node; ``counted``: a run with -vvv of each; ``rounds``: what is compared."""

    change: Run
    counted: Mapping[Contestant, Run]
    rounds: Mapping[Contestant, Sequence[Run]]


def all_runs(runner: Runner, rounds: int) -> Runs:
    """Everything that needs the node. RunFailed when a run fails or one changes what has to be aligned by then."""
    change = runner.traced(Contestant.PROVISION, "provision-misaligned")
    # The stock playbook writes the same settings in its own layout, once; from then on neither may change anything.
    runner.timed(Contestant.STOCK, "stock-first")
    counted = {each: unchanging(runner.traced(each, f"{each.value}-counted"), each) for each in Contestant}
    found: dict[Contestant, list[Run]] = {each: [] for each in Contestant}
    for number in range(1, rounds + 1):
        for each in turns(number):
            run = runner.timed(each, f"{each.value}-{number}")
            found[each].append(unchanging(run, each))
    return Runs(change, counted, found)


def turns(number: int) -> Sequence[Contestant]:
    """Who runs when in a round: each round another one begins, so that nobody always runs after the same one."""
    order = list(Contestant)
    first = number % len(order)
    return order[first:] + order[:first]


def unchanging(run: Run, contestant: Contestant) -> Run:
    if run.record.changed:
        names = ", ".join(task.name for task in run.record.tasks if task.changed)
        raise RunFailed(f"{contestant.value} changed an aligned node: {names}")
    return run
