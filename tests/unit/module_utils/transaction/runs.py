# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying out a plan on the simulated node."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import engine
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.store import Store
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction.simulation import Simulation


def carry_out(simulation: Simulation, plan: dict[str, Any], store: Store | None = None) -> dict[str, Any]:
    """Run the transaction; what it printed is under "printed"."""
    lines: list[str] = []
    if not simulation.store.exists(plan["id"]):
        simulation.store.open(plan["id"], json.dumps(plan))
    answer = engine.execute(simulation.node, store or simulation.store, plan["id"], lines.append)
    assert simulation.store.read(plan["id"], "result.json") == answer
    return dict(answer, printed="\n".join(lines))
