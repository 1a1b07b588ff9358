# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables as Markdown, for the output and for the documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .contestants import Contestant
from .figures import spread
from .fleet_lines import FleetLines
from .many import ManyCost
from .planning_cost import PlanningCost
from .qos_cost import QosCost, Stage
from .reaches import Target, compare, compare_cpu
from .rounds import Run, Runs

Row = Sequence[str]


def markdown(header: Row, rows: Sequence[Row]) -> str:
    """A table with padded columns, so that it is also readable as text."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (header, rule, *rows)
    )


def costs(runs: Runs) -> str:
    """The table of costs, with one column for each contestant."""
    columns: list[tuple[Sequence[Run], Run]] = [
        (runs.rounds[contestant], runs.counted[contestant])
        for contestant in (Contestant.PING, Contestant.PROVISION, Contestant.STOCK)
    ]
    columns.append(([runs.change], runs.change))

    def timed(value: Callable[[Run], float]) -> list[str]:
        return [_figure([value(run) for run in rounds]) for rounds, _counted in columns]

    def counted(value: Callable[[Run], int]) -> list[str]:
        return [str(value(run)) for _rounds, run in columns]

    return markdown(
        ("", "`ansible -m ping`", "`provision`, aligned", "stock playbook, aligned", "`provision`, misaligned (-vvv)"),
        (
            ("wall, s", *timed(lambda run: run.cost.wall)),
            ("of it the node's own programs, s", *timed(lambda run: run.record.program_seconds)),
            ("controller CPU, s", *timed(lambda run: run.cost.cpu)),
            ("peak memory, MiB", *timed(lambda run: run.cost.peak_mib)),
            ("module executions", *counted(lambda run: run.trace.executions)),
            ("polls", *counted(lambda run: run.trace.polls)),
            ("commands over ssh", *counted(lambda run: run.trace.commands)),
            ("tasks run", *counted(lambda run: run.record.ran)),
            ("tasks that changed something", *counted(lambda run: run.record.changed)),
        ),
    )


def ratio_table(runs: Runs) -> str:
    return markdown(
        ("aligned `provision` as a multiple of", "wall without the node's programs", "controller CPU"),
        [
            (name, str(compare(runs, other)), str(compare_cpu(runs, other)))
            for name, other in (("`ansible -m ping`", Contestant.PING), ("stock playbook", Contestant.STOCK))
        ],
    )


def planning_table(planning: Sequence[PlanningCost]) -> str:
    return markdown(
        (
            "planning a recorded node, CPU ms",
            "changes",
            "plugin loaded",
            "first plan",
            "each further plan",
            "modules imported by it",
        ),
        [
            (
                cost.case,
                str(cost.changes),
                f"{cost.load_ms:.1f}",
                f"{cost.first_ms:.1f}",
                f"{cost.again_ms:.1f}",
                str(cost.imported),
            )
            for cost in planning
        ],
    )


def many_table(costs: Sequence[ManyCost]) -> str:
    return markdown(
        ("`assess` over recorded nodes", "wall, s", "controller CPU, s", "peak memory, MiB", "CPU ms a node"),
        [
            (
                str(cost.nodes),
                f"{cost.cost.wall:.1f}",
                f"{cost.cost.cpu:.1f}",
                f"{cost.cost.peak_mib:.0f}",
                f"{cost.cost.cpu / cost.nodes * 1000:.1f}",
            )
            for cost in costs
        ],
    )


def fleet_table(measured: Sequence[FleetLines]) -> str:
    """The lines of each playbook; one column for each callback."""
    callbacks = list(measured[0].lines)
    return markdown(
        ("lines for all hosts", *(f"`{callback}`" if "." in callback else callback for callback in callbacks)),
        [(f"`{result.run}`", *(f"{result.lines[callback]:,}" for callback in callbacks)) for result in measured],
    )


STAGES = {
    Stage.BARE: "bare loop of the writes",
    Stage.READ: "bare loop that reads them back",
    Stage.RAW: "raw backend: writes in order, reads back",
    Stage.WHOLE: "`cgroup_qos`: looks, plans, records, writes, reads back",
    Stage.AGAIN: "`cgroup_qos` for the second time",
}


def qos_table(cost: QosCost) -> str:
    return markdown(
        (cost.what, "CPU ms", "in bare loops of writes", "in bare loops of writes and reads", "files written"),
        [
            (
                name,
                str(cost.spread(stage)),
                str(cost.in_bare_loops(stage)),
                str(cost.in_bare_loops_that_read(stage)),
                str(max(cost.written[stage])),
            )
            for stage, name in STAGES.items()
        ],
    )


def target_table(targets: Sequence[Target]) -> str:
    return markdown(
        ("target", "measured", "limit", ""),
        [
            (target.what, target.value, target.bound, "reached" if target.reached else "not reached")
            for target in targets
        ],
    )


def slowest_tasks(run: Run, count: int = 5) -> str:
    """The tasks of a run that took the most wall time."""
    tasks = sorted(run.record.tasks, key=lambda task: task.seconds, reverse=True)[:count]
    return "\n".join(f"  {task.seconds:7.2f} s  {task.name} ({task.action})" for task in tasks)


def _figure(values: Sequence[float]) -> str:
    return str(spread(values)) if len(values) > 1 else f"{values[0]:.2f}"
