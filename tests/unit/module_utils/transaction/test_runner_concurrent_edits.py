# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another process edits a file during a transaction."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET_CONFIG, Simulation, document
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import break_step, run_transaction


def test_an_edit_between_the_check_and_the_write_stays_and_nothing_is_written(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(step: Step, context: TransactionContext) -> str:
        simulation.write(path, "someone: else\n", 0o600)
        return step.do(context)

    plan = document(simulation)
    path = plan["files"][-1]["path"]
    assert len(plan["files"]) > 1, "the files before it are not written either"
    break_step(monkeypatch, "write files", edit)
    before = {file["path"]: os.stat(simulation.host.path(file["path"])).st_ino for file in plan["files"][:-1]}
    result = run_transaction(simulation, plan)
    assert result["state"] == "rolled-back"
    assert f"{path}: it was changed by someone else during this run" in result["error"]["message"]
    (detail,) = [step["detail"] for step in result["steps"] if step["name"] == "undo: write files"]
    assert detail == "0 restored"
    assert simulation.read(path) == "someone: else\n"
    assert f"NOT as before: {path}" in result["error"]["node"]
    assert before == {name: os.stat(simulation.host.path(name)).st_ino for name in before}


def test_an_edit_of_a_file_just_before_its_rename_stays(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(step: Step, context: TransactionContext) -> str:
        note = context.journal.begin_file

        def begin_file(name: str) -> None:
            note(name)
            if name == path:
                simulation.write(path, "someone: else\n", 0o600)

        monkeypatch.setattr(context.journal, "begin_file", begin_file)
        return step.do(context)

    plan = document(simulation)
    path = plan["files"][-1]["path"]
    first = simulation.read(plan["files"][0]["path"])
    break_step(monkeypatch, "write files", edit)
    result = run_transaction(simulation, plan)
    (detail,) = [step["detail"] for step in result["steps"] if step["name"] == "undo: write files"]
    assert detail == f"{len(plan['files']) - 1} restored"
    assert simulation.read(path) == "someone: else\n"
    assert simulation.read(plan["files"][0]["path"]) == first


def test_an_edit_after_the_write_is_saved(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def edit(step: Step, context: TransactionContext) -> str:
        step.do(context)
        simulation.write(KUBELET_CONFIG, "someone: else\n", 0o600)
        raise OSError("broken")

    tree = simulation.tree()
    break_step(monkeypatch, "write files", edit)
    result = run_transaction(simulation, document(simulation))
    assert result["state"] == "rolled-back"
    (detail,) = [step["detail"] for step in result["steps"] if step["name"] == "undo: write files"]
    assert "was changed by someone else in between; that content is saved in" in detail
    assert Path(detail.rsplit(" ", 1)[1]).read_text() == "someone: else\n"
    assert simulation.tree() == tree
