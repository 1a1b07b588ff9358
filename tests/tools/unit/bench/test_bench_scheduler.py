# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler's part of the benchmark: counted requests, targets, tables, and the pods that it creates."""

from __future__ import annotations

import json
from dataclasses import replace

from ansible_collections.volcano.colocation.tests.bench.cost import Cost
from ansible_collections.volcano.colocation.tests.bench.machine import Machine
from ansible_collections.volcano.colocation.tests.bench.places import DOCUMENT
from ansible_collections.volcano.colocation.tests.bench.report import (
    SCHEDULER_BEGIN,
    SCHEDULER_END,
    scheduler_origin,
    with_figures,
)
from ansible_collections.volcano.colocation.tests.bench.scheduler_cost import (
    RoleCost,
    SchedulerCost,
    count_requests,
    scheduler_tables,
    scheduler_targets,
)
from ansible_collections.volcano.colocation.tests.bench.scheduler_scale import GANG, pod, pod_group

COST = SchedulerCost(
    500,
    5000,
    (
        RoleCost("`main`", Cost(4.25, 2.0, 80.0), 41, changed=True),
        RoleCost("`main` again", Cost(3.0, 2.0, 80.0), 20, changed=False),
    ),
    (100.0, 200.0, 100.0),
    (90.0, 194.0, 98.0),
)
MACHINE = Machine(2, "a CPU", "3.11.7", "2.19.14", "", (0.5, 2.25))


def test_requests_of_kubernetes_own_programs_do_not_count() -> None:
    users = ("kubernetes-admin", "system:apiserver", "kubernetes-admin")
    assert count_requests(json.dumps({"user": {"username": user}}) for user in users) == 2


def test_the_share_is_that_of_each_round() -> None:
    assert str(COST.share) == "0.97 (0.90–0.98)"
    assert [target.reached for target in scheduler_targets(COST)] == [True, True]
    slow = replace(COST, configured=(90.0, 180.0, 90.0))
    assert [(target.reached, target.counted) for target in scheduler_targets(slow)] == [(True, True), (False, False)]


def test_a_second_run_that_changes_something_is_a_failure() -> None:
    again = replace(COST.roles[1], changed=True)
    targets = scheduler_targets(replace(COST, roles=(COST.roles[0], again)))
    assert (targets[0].value, targets[0].reached, targets[0].counted) == ("1", False, True)


def test_the_tables_have_all_runs_and_both_configurations() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in scheduler_tables(COST).splitlines()]
    assert ["`main`", "4.2", "2.0", "41"] in rows
    assert ["upstream's", "100.00 (100.00–200.00)"] in rows
    assert ["the role's", "98.00 (90.00–194.00)"] in rows


def test_a_smaller_size_is_named() -> None:
    assert "not at full size" not in scheduler_origin(COST, MACHINE)
    text = " ".join(scheduler_origin(replace(COST, nodes=50), MACHINE).split())
    assert "not at full size: 50 Nodes, 5000 pods, 3 alternating rounds" in text
    assert "1-minute load 0.5 to 2.2" in text


def test_the_page_has_a_block_for_the_figures() -> None:
    page = with_figures(DOCUMENT.read_text(encoding="utf-8"), "figures", SCHEDULER_BEGIN, SCHEDULER_END)
    assert f"{SCHEDULER_BEGIN}\n\nfigures\n\n{SCHEDULER_END}" in page


def test_each_pod_belongs_to_a_group_that_starts_together() -> None:
    assert pod_group(1, GANG)["metadata"]["name"] == "group-1"
    groups = [pod(number)["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for number in (0, GANG - 1, GANG)]
    assert groups == ["group-0", "group-0", "group-1"]
