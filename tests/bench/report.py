# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's report as text, as JSON and as a block of the documentation."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from . import table
from .contestants import Contestant
from .machine import Machine
from .many import ManyCost, many_targets
from .planning_cost import PlanningCost
from .qos_cost import QosCost, qos_targets
from .qos_node_cost import NodeQosCost, node_qos_targets
from .reaches import Target, targets
from .rounds import Run, Runs
from .scheduler_cost import NODES, PODS, SchedulerCost

BEGIN = "<!-- figures: written by make bench -->"
END = "<!-- end of figures -->"
FLEET_BEGIN = "<!-- fleet: written by tests/bench --fleet-only --update-docs -->"
FLEET_END = "<!-- end of fleet -->"
SCHEDULER_BEGIN = "<!-- scheduler: written by tests/bench --scheduler-only --update-docs -->"
SCHEDULER_END = "<!-- end of scheduler -->"


@dataclass(frozen=True)
class Report:
    machine: Machine
    command: str
    runs: Runs
    planning: Sequence[PlanningCost]
    many: Sequence[ManyCost]
    qos: QosCost
    node_qos: NodeQosCost

    @property
    def targets(self) -> tuple[Target, ...]:
        return (
            *targets(self.runs, self.planning),
            *many_targets(self.many),
            *qos_targets(self.qos),
            *node_qos_targets(self.node_qos),
        )

    @property
    def counts_are_right(self) -> bool:
        return all(target.reached for target in self.targets if target.counted)

    def text(self) -> str:
        """The report as Markdown."""
        rounds = len(self.runs.rounds[Contestant.PROVISION])
        origin = (
            f"Made by `{self.command}` on {date.today().isoformat()}: {rounds} interleaved rounds, "
            f"median (lowest–highest). {self.machine}."
        )
        return "\n\n".join(
            (
                textwrap.fill(origin, 120, break_long_words=False, break_on_hyphens=False),
                table.target_table(self.targets),
                table.costs(self.runs),
                table.ratio_table(self.runs),
                table.planning_table(self.planning),
                table.many_table(self.many),
                table.qos_table(self.qos),
                table.qos_table(self.node_qos.raw),
            )
        )

    def document(self) -> dict[str, Any]:
        """Everything that was measured, as a JSON document."""
        return {
            "schema": 1,
            "command": self.command,
            "machine": asdict(self.machine),
            "reaches": [asdict(target) for target in self.targets],
            "misaligned": _run(self.runs.change),
            "counted": {contestant.value: _run(run) for contestant, run in self.runs.counted.items()},
            "rounds": {contestant.value: [_run(run) for run in runs] for contestant, runs in self.runs.rounds.items()},
            "planning": [asdict(cost) for cost in self.planning],
            "assess_many": [asdict(cost) for cost in self.many],
            "qos": asdict(self.qos),
            "node_qos": asdict(self.node_qos),
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.document(), indent=2) + "\n", encoding="utf-8")


def _run(run: Run) -> dict[str, Any]:
    return {
        "cost": asdict(run.cost),
        "program_seconds": run.record.program_seconds,
        "planning_ms": run.record.planning_ms,
        "modules": dict(run.trace.modules),
        "commands": run.trace.commands,
        "tasks": [asdict(task) for task in run.record.tasks],
    }


def scheduler_origin(cost: SchedulerCost, machine: Machine) -> str:
    """When and how the figures of the scheduler were measured."""
    size = "" if (cost.nodes, cost.pods) == (NODES, PODS) else ", not at full size"
    words = (
        f"Made by `tests/bench --scheduler-only` on {date.today().isoformat()}{size}: {cost.nodes} Nodes, {cost.pods}"
        f" pods, {len(cost.configured)} alternating rounds, median (lowest–highest)."
        f" {machine.cores} cores ({machine.cpu}), Python {machine.python}, ansible-core {machine.ansible_core};"
        f" 1-minute load {' to '.join(f'{load:.1f}' for load in machine.load)}, that of the cluster included."
    )
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)


class NoBlock(ValueError):
    """The page lacks the comments around the figures."""


def with_figures(page: str, figures: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with the block between the two comments replaced; NoBlock where they are missing."""
    before, opened, remaining = page.partition(begin)
    _old, closed, after = remaining.partition(end)
    if not opened or not closed:
        raise NoBlock(f"the page needs a line {begin} and after it a line {end}")
    return f"{before}{begin}\n\n{figures}\n\n{end}{after}"
