# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans that remove a file or change its mode: applied, refused, rolled back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as plans
from ansible_collections.volcano.colocation.plugins.module_utils.state.document_reader import PlanError
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET_CONFIG, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction

MANAGED = "/etc/containerd/extra/managed.toml"


def removing(simulation: Simulation) -> dict[str, Any]:
    plan = document(simulation)
    simulation.write(MANAGED, "managed = true\n", 0o640)
    plan["files"].append({"path": MANAGED, "before_sha256": sha256(b"managed = true\n"), "remove": True})
    plan["files"][0]["nature"] = {"mode": "0640", "owner": f"{os.getuid()}:{os.getgid()}"}
    return plan


def test_a_file_is_removed_and_another_gets_its_mode(simulation: Simulation) -> None:
    plan = removing(simulation)
    assert run_transaction(simulation, plan)["state"] == "committed"
    assert not Path(simulation.host.path(MANAGED)).exists()
    assert simulation.tree()[KUBELET_CONFIG] == ("-rw-r-----", plan["files"][0]["after"])


@pytest.mark.parametrize("step", ["write files", "health gate"])
def test_a_later_failure_restores_both(simulation: Simulation, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(broken: Any, context: Any) -> str:
        broken.do(context)
        raise OSError(5, "Input/output error", "/somewhere")

    plan = removing(simulation)
    before = simulation.tree()
    break_step(monkeypatch, step, fail)
    assert run_transaction(simulation, plan)["state"] == "rolled-back"
    assert simulation.tree() == before


def test_a_foreign_change_is_not_removed(simulation: Simulation) -> None:
    plan = removing(simulation)
    simulation.write(MANAGED, "foreign = true\n", 0o640)
    before = simulation.tree()
    result = run_transaction(simulation, plan)
    assert result["state"] == "refused"
    assert f"{MANAGED}: it was changed by someone else since it was read" in result["error"]["message"]
    assert simulation.tree() == before


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"remove": True}, "files.remove"),
        ({"before_sha256": "0" * 64, "remove": True, "after": "x"}, "files.remove"),
        ({"after": "x", "nature": {"mode": "rw", "owner": "0:0"}}, "files.nature.mode"),
        ({"after": "x", "nature": {"mode": "0644", "owner": "root"}}, "files.nature.owner"),
        ({"after": "x", "nature": {"mode": "0644", "owner": "0:0", "xattrs": {"a": "zz"}}}, "files.nature.xattrs"),
        ({"after": "x", "section": "slices"}, "files.section"),
    ],
)
def test_an_inconsistent_plan_names_the_place(entry: dict[str, Any], place: str) -> None:
    with pytest.raises(PlanError, match=place.replace(".", r".*\.")):
        plans.read_plan({"schema": 1, "id": "t", "files": [{"path": "/a", **entry}]})
