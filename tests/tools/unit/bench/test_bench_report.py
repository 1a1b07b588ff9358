# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables, the JSON report and the block in the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.bench import table
from ansible_collections.volcano.colocation.tests.bench.cost import Cost
from ansible_collections.volcano.colocation.tests.bench.machine import Machine
from ansible_collections.volcano.colocation.tests.bench.many import ManyCost
from ansible_collections.volcano.colocation.tests.bench.places import DOCUMENT
from ansible_collections.volcano.colocation.tests.bench.planning_cost import PlanningCost
from ansible_collections.volcano.colocation.tests.bench.qos_cost import combined
from ansible_collections.volcano.colocation.tests.bench.qos_node_cost import of_report
from ansible_collections.volcano.colocation.tests.bench.report import BEGIN, END, NoBlock, Report, with_figures
from ansible_collections.volcano.colocation.tests.bench.rounds import Runs

from .runs import ALIGNED, all_runs, qos_round, run, task, usage


def report(runs: Runs, again: int = 0) -> Report:
    machine = Machine(2, "a CPU", "3.11.7", "2.19.14", "tcg", (1.0, 2.5))
    planning = [PlanningCost("aligned", 0, 80.0, 5.0, 1.0, 4)]
    many = [ManyCost(nodes, 0.1, Cost(nodes / 25, nodes / 25, 100.0)) for nodes in (250, 500, 1000)]
    rounds = [qos_round(20.0, 10.0, 45.0), qos_round(10.0, 10.0, 30.0, again)]
    qos = combined({"pods": 500, "settings": 6, "rounds": rounds})
    units = [{"calls": 1, "again": 0}] * 3
    node_qos = of_report({"pods": 500, "settings": 6, "rounds": rounds[:1], "units": units})
    return Report(machine, "make bench", runs, planning, many, qos, node_qos)


def test_columns_are_padded() -> None:
    assert table.markdown(("", "wall"), [("a", "1.00 (0.50–2.00)"), ("bcd", "2")]).splitlines() == [
        "|     | wall             |",
        "| --- | ---------------- |",
        "| a   | 1.00 (0.50–2.00) |",
        "| bcd | 2                |",
    ]


def test_the_text_has_machine_targets_costs_and_ratios() -> None:
    text = report(all_runs()).text()
    assert "2 interleaved rounds" in text
    assert "1-minute load 1.0 to 2.5" in text
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    assert ["wall, s", "2.00 (2.00–2.00)", "4.50 (4.00–5.00)", "15.00 (10.00–20.00)", "60.00"] in rows
    assert ["module executions", "1", "1", "4", "3"] in rows
    assert ["polls", "0", "0", "0", "4"] in rows
    assert ["1000", "40.0", "40.0", "100", "40.0"] in rows
    assert ["assessing 1000 recorded nodes, wall", "40.0 s", "< 60 s", "reached"] in rows
    raw = ["37.50 (30.00–45.00)", "2.62 (2.25–3.00)", "1.50 (1.50–1.50)", "3000"]
    assert ["raw backend: writes in order, reads back", *raw] in rows
    assert [
        "raw writes of 500 pods × 6 settings on the node in bare loops",
        "2.25 (2.25–2.25)",
        "≤ 2.00",
        "not reached",
    ] in rows
    assert ["calls for the 6 properties of a unit", "1", "1", "reached"] in rows
    assert [
        "raw writes of 500 pods × 6 settings in files in bare loops",
        "2.62 (2.25–3.00)",
        "≤ 2.00",
        "not reached",
    ] in rows
    assert ["module executions, aligned node", "1 and 0 poll(s)", "1", "reached"] in rows
    assert ["`ansible -m ping`", "1.75 (1.50–2.00)", "2.25 (2.00–2.50)"] in rows


def test_counts_decide_and_times_do_not() -> None:
    assert report(all_runs(pings=(0.1, 0.1))).counts_are_right
    assert not report(all_runs(counted=run(4.0, task(usage=usage(2)), trace=ALIGNED))).counts_are_right
    assert not report(all_runs(), again=1).counts_are_right


def test_the_report_is_json_with_every_run(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    report(all_runs()).write(path)
    document = json.loads(path.read_text())
    assert document["schema"] == 1
    assert [len(runs) for runs in document["rounds"].values()] == [2, 2, 2]
    assert document["node_qos"]["calls"] == [1, 1, 1]
    assert document["qos"]["written"]["raw"] == [3000, 3000]
    assert document["misaligned"]["modules"] == {"node_snapshot": 2, "node_transaction": 5}


def test_the_longest_tasks_come_first() -> None:
    runs = run(9.0, task(name="short", seconds=0.5), task(name="long", seconds=8.0))
    assert [line.split()[2] for line in table.slowest_tasks(runs).splitlines()] == ["long", "short"]


def test_only_the_block_of_figures_is_replaced() -> None:
    page = f"# Title\n\n{BEGIN}\nold\n{END}\n\nmore\n"
    new = with_figures(page, "new")
    assert new == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nmore\n"
    assert with_figures(new, "new") == new


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}\n{BEGIN}\n"])
def test_a_page_without_the_block_is_refused(page: str) -> None:
    with pytest.raises(NoBlock):
        with_figures(page, "figures")


def test_our_own_page_has_the_block() -> None:
    assert "figures" in with_figures(DOCUMENT.read_text(encoding="utf-8"), "figures")
