# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's command line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from . import table
from .fleet_lines import HOSTS, FleetError, fleet_lines, fleet_targets
from .machine import Machine, describe_machine
from .many import NODES, ManyCost, ManyError, assess_many, many_targets
from .node import BenchNode, NodeError
from .places import DOCUMENT, LOGS, REPORT, environment
from .planning_cost import PlanningCost, PlanningError, planning_costs
from .qos_cost import QosCost, QosError, qos_cost, qos_targets
from .qos_node_cost import NodeQosCost, node_qos_cost, node_qos_targets
from .reaches import Target
from .report import (
    FLEET_BEGIN,
    FLEET_END,
    SCHEDULER_BEGIN,
    SCHEDULER_END,
    NoBlock,
    Report,
    scheduler_origin,
    with_figures,
)
from .rounds import RunFailed, Runner, Runs, all_runs
from .scheduler_cost import NODES as SCALE_NODES
from .scheduler_cost import PODS as SCALE_PODS
from .scheduler_cost import ROUNDS as SCALE_ROUNDS
from .scheduler_cost import scheduler_tables, scheduler_targets
from .scheduler_scale import ScaleError, scheduler_cost

NODE = "bench"
ROUNDS = 7
BEGAN = time.monotonic()


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; 0 if everything ran and all counts are right, regardless of times, else 1."""
    arguments = _parser().parse_args(argv)
    # A cancelled job also takes its node down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    variables = environment(os.environ)
    LOGS.mkdir(parents=True, exist_ok=True)
    try:
        if arguments.only is not None:
            return int(arguments.only(arguments, variables))
        planning, many, qos = _plan(variables), _assess(arguments, variables), _set(variables)
        machine, runs, node_qos = _measure(arguments, variables)
        return _finish(Report(machine, _command(arguments), runs, planning, many, qos, node_qos), arguments)
    except (FleetError, ManyError, NodeError, NoBlock, PlanningError, QosError, RunFailed, ScaleError) as error:
        say(f"failed: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130


def _plan(variables: Mapping[str, str]) -> tuple[PlanningCost, ...]:
    say("planning recorded nodes …")
    return planning_costs(variables)


def _assess(arguments: argparse.Namespace, variables: Mapping[str, str]) -> tuple[ManyCost, ...]:
    say(f"assessing up to {arguments.assess_many} recorded nodes …")
    return assess_many(arguments.assess_many, variables)


def _set(variables: Mapping[str, str]) -> QosCost:
    say("settings on pods …")
    return qos_cost(variables)


def _only_plan(_arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    print(table.planning_table(_plan(variables)))
    return 0


def _only_assess(arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    many = _assess(arguments, variables)
    print(f"{table.many_table(many)}\n\n{table.target_table(many_targets(many))}")
    return 0


def _only_fleet(arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    say(f"lines of the playbooks over {arguments.fleet} hosts …")
    measured = []
    for result in fleet_lines(arguments.fleet, variables):
        say(f"{result.run}: {', '.join(f'{lines} lines ({name})' for name, lines in result.lines.items())}")
        measured.append(result)
    targets = fleet_targets(measured)
    text = f"{table.fleet_table(measured)}\n\n{table.target_table(targets)}"
    print(text)
    if arguments.update_docs:
        page = with_figures(DOCUMENT.read_text(encoding="utf-8"), text, FLEET_BEGIN, FLEET_END)
        DOCUMENT.write_text(page, encoding="utf-8")
    return 0 if all(target.reached for target in targets) else 1


def _only_schedule(arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    nodes, pods = arguments.scheduler_nodes, arguments.scheduler_pods
    say(f"the scheduler with {pods} pods on {nodes} Nodes …")
    began = os.getloadavg()[0]
    cost = scheduler_cost(nodes, pods, min(arguments.rounds, SCALE_ROUNDS), variables, say)
    machine = describe_machine({"engine": "no engine, without kubelets"}, (began, os.getloadavg()[0]))
    targets = scheduler_targets(cost)
    text = "\n\n".join((scheduler_origin(cost, machine), table.target_table(targets), scheduler_tables(cost)))
    print(text)
    if arguments.update_docs:
        page = with_figures(DOCUMENT.read_text(encoding="utf-8"), text, SCHEDULER_BEGIN, SCHEDULER_END)
        DOCUMENT.write_text(page, encoding="utf-8")
    return 0 if all(target.reached for target in targets if target.counted) else 1


def _only_set(_arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    qos = _set(variables)
    return _print_targets(qos, qos_targets(qos))


def _only_set_on_node(arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    with _booted(arguments, variables) as (node, _facts):
        qos = _set_on(node)
    return _print_targets(qos.raw, node_qos_targets(qos))


def _set_on(node: BenchNode) -> NodeQosCost:
    say("settings on cgroups of the node …")
    return node_qos_cost(node)


def _print_targets(cost: QosCost, targets: Sequence[Target]) -> int:
    print(f"{table.qos_table(cost)}\n\n{table.target_table(targets)}")
    return 0 if all(target.reached for target in targets if target.counted) else 1


def _measure(arguments: argparse.Namespace, variables: Mapping[str, str]) -> tuple[Machine, Runs, NodeQosCost]:
    with _booted(arguments, variables) as (node, facts):
        runner = Runner(node, node.inventory(), variables, say)
        load = os.getloadavg()[0]
        say(f"{arguments.rounds} rounds; 1-minute load {load:.1f}")
        runs = all_runs(runner, arguments.rounds)
        return describe_machine(facts, (load, os.getloadavg()[0])), runs, _set_on(node)


@contextmanager
def _booted(arguments: argparse.Namespace, variables: Mapping[str, str]) -> Iterator[tuple[BenchNode, dict[str, Any]]]:
    """The node and the lab's facts about it; the node is taken down at the end."""
    node = BenchNode(NODE, variables)
    say("booting a misaligned node …")
    try:
        yield node, node.up()
    finally:
        if not arguments.keep:
            _end(node)


def _end(node: BenchNode) -> None:
    """Take the node down. A failure here must not hide an earlier error, so it is only printed."""
    try:
        node.down()
    except NodeError as error:
        say(str(error))


def _finish(report: Report, arguments: argparse.Namespace) -> int:
    report.write(REPORT)
    print(f"\n{report.text()}\n", flush=True)
    say(f"the longest tasks of the change:\n{table.slowest_tasks(report.runs.change)}")
    say(f"complete report as JSON: {REPORT}")
    if arguments.update_docs:
        DOCUMENT.write_text(with_figures(DOCUMENT.read_text(encoding="utf-8"), report.text()), encoding="utf-8")
        say(f"written into {DOCUMENT}")
    if not report.counts_are_right:
        say("failed: the numbers of module executions, calls or written files are wrong; see the targets above")
    return 0 if report.counts_are_right else 1


def _command(arguments: argparse.Namespace) -> str:
    """The command that produces the same figures."""
    changed = [f" --rounds {arguments.rounds}"] * (arguments.rounds != ROUNDS)
    changed += [f" --assess-many {arguments.assess_many}"] * (arguments.assess_many != NODES)
    return "tests/bench" + "".join(changed) if changed else "make bench"


def say(line: str) -> None:
    print(f"[{time.monotonic() - BEGAN:6.1f}s] benchmark: {line}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"interleaved rounds on the aligned node ({ROUNDS})")
    parser.add_argument("--update-docs", action="store_true", help="write the figures into docs/benchmark.md")
    parser.add_argument(
        "--assess-many", type=int, default=NODES, metavar="N", help=f"recorded nodes that are assessed ({NODES})"
    )
    parser.add_argument(
        "--fleet", type=int, default=HOSTS, metavar="N", help=f"hosts whose lines are counted ({HOSTS})"
    )
    parser.add_argument(
        "--scheduler-nodes",
        type=int,
        default=SCALE_NODES,
        metavar="N",
        help=f"Nodes of --scheduler-only ({SCALE_NODES})",
    )
    parser.add_argument(
        "--scheduler-pods", type=int, default=SCALE_PODS, metavar="N", help=f"pods of --scheduler-only ({SCALE_PODS})"
    )
    for name, part, what in (
        ("--planning-only", _only_plan, "only plan recorded nodes; boots nothing"),
        ("--assess-only", _only_assess, "only assess recorded nodes; boots nothing"),
        ("--fleet-only", _only_fleet, "only count the lines of playbooks over many hosts; boots nothing"),
        ("--scheduler-only", _only_schedule, "only the role scheduler and Volcano's scheduler; boots nothing"),
        ("--qos-only", _only_set, "only settings on pods, in a tree of files; boots nothing"),
        ("--qos-node-only", _only_set_on_node, "only settings on cgroups of the node"),
    ):
        parser.add_argument(name, dest="only", action="store_const", const=part, help=what)
    parser.add_argument("--keep", action="store_true", help="leave the node up for inspection")
    return parser
