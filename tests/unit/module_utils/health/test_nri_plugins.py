# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""As many NRI plugins are connected after a change as before."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health import gate
from ansible_collections.volcano.colocation.plugins.module_utils.health.finding import Finding, Verdict
from ansible_collections.volcano.colocation.plugins.module_utils.health.runtime_checks import nri_plugins
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import parse_plan
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import preflight
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import never_cancelled
from ansible_collections.volcano.colocation.tests.support.node.simulation import NRI, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction

CHECK = "NRI plugins"


def observed(simulation: Simulation, socket: str | None = NRI) -> int:
    plan = document(simulation)
    plan["gate"]["nri_socket"] = socket
    return int(preflight.observe(simulation.node, parse_plan(json.dumps(plan)))["nri_plugins"])


def plugin_findings(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(check["status"], check["detail"]) for check in result["gate"] if check["check"] == CHECK]


@pytest.mark.parametrize(
    ("now", "verdict"), [(0, Verdict.WAITING), (1, Verdict.WAITING), (2, Verdict.PASSED), (3, Verdict.PASSED)]
)
def test_fewer_plugins_than_before_are_waited_for(simulation: Simulation, now: int, verdict: Verdict) -> None:
    simulation.connect_plugins(now)
    assert nri_plugins(simulation.node, NRI, 2) == Finding(CHECK, verdict, f"{now} of 2 connected")


def test_a_table_that_cannot_be_read_proves_nothing(simulation: Simulation) -> None:
    os.unlink(simulation.host.path("/proc/net/unix"))
    finding = nri_plugins(simulation.node, NRI, 2)
    assert (finding.verdict, finding.detail) == (Verdict.WAITING, "/proc/net/unix: No such file or directory")
    assert observed(simulation) == 0


def test_connections_are_counted_before_the_change(simulation: Simulation) -> None:
    assert observed(simulation) == 0
    simulation.connect_plugins(2)
    assert observed(simulation) == 2
    assert observed(simulation, "/run/other.sock") == 0
    assert observed(simulation, None) == 0


def test_a_late_plugin_is_waited_for(simulation: Simulation) -> None:
    rounds: list[Verdict] = []

    def record(findings: list[Finding]) -> None:
        rounds.extend(check.verdict for check in findings)
        simulation.connect_plugins(len(rounds))

    simulation.connect_plugins(0)
    (finding,) = gate.watch(
        simulation.node, [partial(nri_plugins, simulation.node, NRI, 2)], 30.0, never_cancelled, record
    )
    assert finding.verdict is Verdict.PASSED
    assert rounds == [Verdict.WAITING, Verdict.WAITING, Verdict.PASSED]


def test_a_change_after_which_all_plugins_reconnect_is_committed(simulation: Simulation) -> None:
    simulation.connect_plugins(2)
    simulation.returning_plugins = 2
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], plugin_findings(result)) == ("committed", [("passed", "2 of 2 connected")])


def test_a_missing_plugin_rolls_the_change_back(simulation: Simulation) -> None:
    simulation.connect_plugins(2)
    simulation.returning_plugins = 1
    tree = simulation.tree()
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], plugin_findings(result)) == ("rolled-back", [("failed", "1 of 2 connected")])
    assert f"{CHECK}: 1 of 2 connected" in result["error"]["message"]
    assert simulation.tree() == tree


def test_without_plugins_before_none_is_waited_for(simulation: Simulation) -> None:
    result = run_transaction(simulation, document(simulation))
    assert (result["state"], plugin_findings(result)) == ("committed", [])
