# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans that remove a file or give one another mode: carried out, refused, undone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as plans
from ansible_collections.volcano.colocation.plugins.module_utils.state.document_reader import PlanError
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET_CONFIG, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, carry_out

OURS = "/etc/containerd/extra/ours.toml"


def removing(simulation: Simulation) -> dict[str, Any]:
    plan = document(simulation)
    simulation.write(OURS, "ours = true\n", 0o640)
    plan["files"].append({"path": OURS, "before_sha256": sha256(b"ours = true\n"), "remove": True})
    plan["files"][0]["nature"] = {"mode": "0640", "owner": f"{os.getuid()}:{os.getgid()}"}
    return plan


def test_a_file_goes_and_another_gets_its_mode(simulation: Simulation) -> None:
    plan = removing(simulation)
    assert carry_out(simulation, plan)["state"] == "committed"
    assert not Path(simulation.host.path(OURS)).exists()
    assert simulation.tree()[KUBELET_CONFIG] == ("-rw-r-----", plan["files"][0]["after"])


@pytest.mark.parametrize("step", ["write files", "health gate"])
def test_what_fails_later_puts_both_back(simulation: Simulation, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(broken: Any, context: Any) -> str:
        broken.do(context)
        raise OSError(5, "Input/output error", "/somewhere")

    plan = removing(simulation)
    before = simulation.tree()
    break_step(monkeypatch, step, fail)
    assert carry_out(simulation, plan)["state"] == "rolled-back"
    assert simulation.tree() == before


def test_somebody_elses_change_is_not_removed(simulation: Simulation) -> None:
    plan = removing(simulation)
    simulation.write(OURS, "theirs = true\n", 0o640)
    before = simulation.tree()
    answer = carry_out(simulation, plan)
    assert answer["state"] == "refused"
    assert f"{OURS}: it was changed by someone else since it was read" in answer["error"]["message"]
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
def test_a_plan_that_makes_no_sense_names_the_place(entry: dict[str, Any], place: str) -> None:
    with pytest.raises(PlanError, match=place.replace(".", r".*\.")):
        plans.read_plan({"schema": 1, "id": "t", "files": [{"path": "/a", **entry}]})
