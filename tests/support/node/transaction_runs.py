# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of transactions on the simulated node."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import runner, steps
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.context import TransactionContext
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import Step
from ansible_collections.volcano.colocation.tests.support.node.simulation import Simulation


class Crash(BaseException):
    """The process was killed."""


def crash(step: Step, work: TransactionContext) -> str:
    """Run a step, and then kill the process."""
    step.do(work)
    raise Crash


def run_transaction(simulation: Simulation, plan: dict[str, Any], store: Store | None = None) -> dict[str, Any]:
    """Run the transaction; its output is under "printed"."""
    lines: list[str] = []
    if not simulation.store.exists(plan["id"]):
        simulation.store.open(plan["id"], json.dumps(plan))
    result = runner.execute(simulation.node, store or simulation.store, plan["id"], lines.append)
    assert simulation.store.read(plan["id"], "result.json") == result
    return dict(result, printed="\n".join(lines))


def break_step(monkeypatch: pytest.MonkeyPatch, name: str, do: Callable[[Step, TransactionContext], str]) -> None:
    monkeypatch.setattr(runner, "STEPS", tuple(broken(step, do) if step.name == name else step for step in steps.STEPS))


def broken(step: Step, do: Callable[[Step, TransactionContext], str]) -> Step:
    def run(work: TransactionContext) -> str:
        return do(step, work)

    return replace(step, do=run)
