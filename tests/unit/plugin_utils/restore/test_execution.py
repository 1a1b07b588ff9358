# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order and number of module executions, and the messages of failed phases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.transport import (
    LEDGER_MODULE,
    TRANSACTION_MODULE,
    Node,
    NodeFailure,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.execution import apply_restore, check_restore
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.ledger_evidence import SECTIONS, read_evidence
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.ledger_plan import RestorePlan, plan_restore
from ansible_collections.volcano.colocation.tests.support.hosts.ledger_reports import NOTHING, QOS, provisioned

SLICE: dict[str, Any] = {"name": "node-agents.slice", "error": None, "diff": [], "warnings": []}
SLICES = {"slices": [SLICE], "strays": []}
DONE = {"changed": True, "removed": []}


class Nodes:
    """A node that returns the configured results and records the calls."""

    def __init__(self, state: str = "committed", failing: str = "") -> None:
        self._state, self._failing = state, failing
        self.calls: list[str] = []
        self.plans: list[dict[str, Any]] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == TRANSACTION_MODULE:
            self.calls.append("transaction")
            self.plans.append(json.loads(arguments["plan"]))
            error = {"step": "start kubelet", "message": "it exits immediately", "node": "every file is as it was"}
            return {"transaction": {"id": "t", "state": self._state, "steps": [], "step": "", "error": error}}
        assert (name, arguments["action"]) == (LEDGER_MODULE, "restore")
        call = "+".join(arguments["sections"]) + (" clean" if arguments["clean"] else "")
        self.calls.append(call)
        return {"failed": True, "msg": "it cannot be removed"} if self._failing and self._failing in call else DONE


def run(nodes: Nodes, restore: RestorePlan) -> tuple[dict[str, Any], int]:
    node = Node(nodes)
    return apply_restore(node, restore, 300, lambda state: None), node.usage.module_executions


def everything() -> RestorePlan:
    return plan_restore(provisioned(qos=QOS, slices=SLICES), SECTIONS, allow_disruption=True)


def test_order_of_the_phases() -> None:
    nodes = Nodes()
    result, executions = run(nodes, everything())
    assert nodes.calls == ["qos", "transaction", "slices clean"]
    assert result["transaction"]["state"] == "committed"
    assert executions == 3


def test_a_node_with_nothing_to_restore_gets_no_call() -> None:
    nodes = Nodes()
    assert run(nodes, plan_restore(read_evidence(NOTHING), SECTIONS, allow_disruption=None)) == ({}, 0)
    assert nodes.calls == []


def test_own_files_stay_while_a_section_remains() -> None:
    nodes = Nodes()
    run(nodes, plan_restore(provisioned(qos=QOS, slices=SLICES), ("slices",), allow_disruption=None))
    assert nodes.calls == ["slices"]


@pytest.mark.parametrize(
    ("state", "changed", "lead"),
    [
        ("rolled-back", True, "The node was rolled back to its previous state."),
        ("refused", True, "Nothing was changed."),
        ("rollback-failed", True, "The node could NOT be rolled back completely"),
    ],
)
def test_a_failed_transaction_ends_the_restore_and_names_the_restored_sections(
    state: str, changed: bool, lead: str
) -> None:
    nodes = Nodes(state)
    result, _executions = run(nodes, everything())
    assert nodes.calls == ["qos", "transaction"]
    assert (result["failed"], result["changed"], result["diff"]) == (True, changed, [])
    assert result["msg"].startswith(lead)
    assert result["msg"].endswith("Sections that were restored before, and stay so: qos.")


def test_a_failed_transaction_without_other_sections_changed_nothing() -> None:
    result, _executions = run(Nodes("rolled-back"), plan_restore(provisioned(), SECTIONS, allow_disruption=True))
    assert (result["failed"], result["changed"]) == (True, False)
    assert "restored before" not in result["msg"]


def test_failed_settings_end_the_restore_before_the_files() -> None:
    nodes = Nodes(failing="qos")
    result, _executions = run(nodes, everything())
    assert nodes.calls == ["qos"]
    assert (result["failed"], result["changed"], result["msg"]) == (True, False, "it cannot be removed")


def test_a_failed_slice_leaves_the_other_sections_restored() -> None:
    result, _executions = run(Nodes(failing="slices"), everything())
    assert (result["failed"], result["changed"]) == (True, True)
    assert result["msg"] == (
        "it cannot be removed. Sections that were restored before, and stay so: qos, kubelet, runtime."
    )


def test_a_failed_module_is_a_failure() -> None:
    with pytest.raises(NodeFailure, match="No such module"):
        Node(lambda name, arguments: {"failed": True, "msg": "No such module"}).ledger()


def test_check_mode_reports_why_the_files_would_be_refused() -> None:
    nodes = Nodes("refused")
    result = check_restore(Node(nodes), everything(), 300)
    assert nodes.calls == ["transaction"]
    assert (result["failed"], result["changed"], result["diff"]) == (True, False, [])
    assert result["msg"].startswith("Nothing was changed. Step 'start kubelet' failed: it exits immediately.")
    assert check_restore(Node(Nodes("none")), everything(), 300) == {}


def test_check_mode_makes_no_call_without_files_to_restore() -> None:
    nodes = Nodes()
    assert (
        check_restore(Node(nodes), plan_restore(provisioned(slices=SLICES), ["slices"], allow_disruption=True), 300)
        == {}
    )
    assert nodes.calls == []
