# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoing at boot what a power cut left half done: files only.

Services are neither started nor stopped: systemd has their start queued behind this, so that a start would wait for
itself and a stop would cancel it (systemctl(1), --job-mode=replace). Cgroups and running pods went with the power.
"""

from __future__ import annotations

from .rollback import begin, different_files, undo
from .steps import STEPS
from .work import Work

REASON = "the node went down in the middle of it"


def roll_back(work: Work) -> None:
    """Undo every begun step that outlives a boot, the last one first. What a running node shows is left to prove."""
    begin(work, REASON)
    told = [undo(work, step) for step in reversed(STEPS) if step.outlives_boot and work.journal.begun(step.name)]
    troubles = [trouble for trouble in told if trouble]
    work.journal.describe_node("; ".join([*different_files(work), *_left_to_systemd(work), *troubles]))
    work.journal.end_at_boot(_to_prove(work), troubles)


def _left_to_systemd(work: Work) -> list[str]:
    restarted = [each for each in (work.plan.runtime, work.plan.kubelet) if each is not None and each.restart]
    return [f"{service.unit} is left to the boot" for service in restarted]


def _to_prove(work: Work) -> list[str]:
    """What ran before and has not been seen to run since."""
    before = work.journal.before
    found = []
    if work.plan.restarts_runtime and before["runtime_runs"] and work.plan.runtime:
        found.append(f"{work.plan.runtime.unit} runs")
    if work.plan.restarts_kubelet and before["kubelet_runs"] and work.plan.kubelet:
        found.append(f"{work.plan.kubelet.unit} runs")
    if before["pods"]:
        found.append(f"{len(before['pods'])} pods run as before")
    node = work.plan.gate.node if work.plan.gate else None
    if node is not None and before.get("node") and before["node"]["ready"]:
        found.append(f"Node {node.name} is Ready in the cluster")
    return found
