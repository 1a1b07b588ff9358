# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a restore on the simulated node, made from its ledger as on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.ledger import Target
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.tests.support.node.simulation import CHECKPOINT, Simulation, document

MEMORY = "/var/lib/kubelet/memory_manager_state"
FRESH = '{"policyName": "none"}'
"""What the simulated kubelet writes when it finds no checkpoint."""


def entry(store: Store, host: Host, target: Target) -> dict[str, Any]:
    """Return the plan's entry that restores one target."""
    path, original = Path(host.path(target.path)), target.original
    text = ledger.text_of(store, original)
    planned = {
        "path": target.path,
        "before_sha256": sha256(path.read_bytes()) if path.exists() else None,
        "section": target.section,
    }
    if text is None:
        return {**planned, "remove": True}
    attributes = {"mode": f"{original.mode:04o}", "owner": f"{original.uid}:{original.gid}", "xattrs": original.xattrs}
    return {**planned, "after": text.decode(), "nature": attributes}


def make_restore_plan(simulation: Simulation, transaction: str = "t-2") -> dict[str, Any]:
    targets = ledger.load(simulation.store).targets.values()
    plan = document(simulation, transaction)
    plan["files"] = [
        entry(simulation.store, simulation.host, target)
        for target in targets
        if target.path not in (CHECKPOINT, MEMORY)
    ]
    plan.update(validate=[], forget=[CHECKPOINT, MEMORY], stale_cgroups=["kubepods.slice"], fresh_cgroups=["kubepods"])
    plan["gate"].update(
        runtime_handlers={"runc": False},
        cpu_manager={"path": CHECKPOINT, "policy": "none"},
        cgroup_driver="cgroupfs",
    )
    assert plan["sandboxes"]["action"] == "stop"
    return plan
