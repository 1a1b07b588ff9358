# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health gate: which checks apply, and waiting for them with a deadline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable

from ..cri.node_access import Node
from ..state.plan_document import Gate, Plan
from . import kubelet_checks, node_ready, pod_checks, runtime_checks
from .finding import PENDING, Finding, Verdict

PAUSE = 1.0
PAUSES_PER_ROUND = 3.0
LONGEST_PAUSE = 10.0
"""Seconds between two rounds: three times what a round took, within limits."""
DEFAULT_TIMEOUT = 180.0

Check = Callable[[], Finding]


@dataclass(frozen=True)
class Restarts:
    """When the services were started, in seconds since 1970; None: they were not, or by a process that is gone."""

    kubelet: float | None
    runtime: float | None


def checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """The checks that the plan asks for."""
    gate = plan.gate
    if gate is None:
        return []
    chosen = _kubelet_checks(node, plan, gate, before)
    if gate.cri_endpoint:
        chosen.append(partial(runtime_checks.ready, node, gate.cri_endpoint))
        chosen += _cri_checks(node, gate, gate.cri_endpoint, before, restarted)
    if gate.nri_socket:
        chosen.append(partial(runtime_checks.nri_socket, node, gate.nri_socket, restarted.runtime))
        if before.get("nri_plugins"):
            chosen.append(partial(runtime_checks.nri_plugins, node, gate.nri_socket, before["nri_plugins"]))
    return chosen + _node_checks(node, plan, before, restarted)


def baseline_checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """What must be true again after a roll-back: as much of the node's health as it had before."""
    gate = plan.gate
    if gate is None or not before["kubelet_runs"] or not plan.restarts_kubelet:
        return []
    chosen: list[Check] = []
    if plan.kubelet:
        chosen.append(kubelet_checks.KubeletStableCheck(node, plan.kubelet.unit))
    if gate.kubelet_healthz and before["kubelet_healthy"]:
        chosen.append(partial(kubelet_checks.healthz, node, gate.kubelet_healthz))
    if gate.cri_endpoint and gate.pods_return and before["pods"]:
        chosen.append(_pods_returned(node, gate.cri_endpoint, before, restarted))
    if _was_ready(before):
        chosen += _node_checks(node, plan, before, restarted)
    return chosen


def ignore_progress(_findings: list[Finding]) -> None:
    """Nobody follows the checks."""


def watch(
    node: Node,
    wanted: list[Check],
    timeout: float,
    heed: Callable[[], None],
    tell: Callable[[list[Finding]], None] = ignore_progress,
) -> list[Finding]:
    """Ask until every check has passed, one has failed for good, or the time is over.

    What has passed is asked again at the end, all in one round: a node that starts its pods has little time for us.
    ``heed`` is called before each round and may raise; ``tell`` is given each round's answers.
    """
    deadline = node.clock.monotonic() + timeout
    passed: dict[int, Finding] = {}
    while True:
        heed()
        began = node.clock.monotonic()
        findings = [passed[index] if index in passed else check() for index, check in enumerate(wanted)]
        tell(findings)
        verdicts = [finding.verdict for finding in findings]
        waiting = any(verdict in PENDING for verdict in verdicts)
        now = node.clock.monotonic()
        if Verdict.FAILED in verdicts or not (waiting or passed) or now >= deadline:
            return findings
        passed = {}
        if waiting:
            passed = {index: each for index, each in enumerate(findings) if each.verdict is Verdict.PASSED}
            node.clock.sleep(min(max(PAUSE, PAUSES_PER_ROUND * (now - began)), LONGEST_PAUSE))


def failures(findings: list[Finding]) -> list[Finding]:
    """The findings that stop a transaction."""
    return [finding for finding in findings if finding.verdict in (Verdict.FAILED, *PENDING)]


def _kubelet_checks(node: Node, plan: Plan, gate: Gate, before: dict[str, Any]) -> list[Check]:
    chosen: list[Check] = []
    if plan.kubelet:
        chosen.append(kubelet_checks.KubeletStableCheck(node, plan.kubelet.unit))
    chosen += _healthz_checks(node, plan, gate, before)
    if gate.cpu_manager:
        chosen.append(partial(kubelet_checks.checkpoint, node, "CPU manager checkpoint", gate.cpu_manager))
    if gate.memory_manager:
        chosen.append(partial(kubelet_checks.checkpoint, node, "memory manager checkpoint", gate.memory_manager))
    return chosen


def _healthz_checks(node: Node, plan: Plan, gate: Gate, before: dict[str, Any]) -> list[Check]:
    """Journals from before there was ``healthz`` in them demand it."""
    wanted = before.get("healthz") or {"demanded": True}
    if gate.kubelet_healthz is None:
        return [kubelet_checks.disabled_healthz] if plan.restarts_kubelet else []
    if wanted["demanded"]:
        return [partial(kubelet_checks.healthz, node, gate.kubelet_healthz)]
    return [partial(kubelet_checks.optional_healthz, node, gate.kubelet_healthz, wanted["reason"])]


def _was_ready(before: dict[str, Any]) -> bool:
    """Journals from before there was this check have nothing of it."""
    return bool(before.get("node") and before["node"]["ready"])


def _node_checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """What was not seen to be Ready before is not demanded, but said."""
    if plan.gate is None or plan.gate.node is None:
        return []
    if plan.kubelet is None or not _was_ready(before):
        return [partial(node_ready.not_required, before)]
    return [partial(node_ready.ready, node, plan.gate.node, plan.kubelet.unit, restarted.kubelet)]


def _pods_returned(node: Node, endpoint: str, before: dict[str, Any], restarted: Restarts) -> Check:
    noted = before.get("ended", ())
    return partial(pod_checks.pods_returned, node, endpoint, before["pods"], noted, restarted.kubelet)


def _cri_checks(node: Node, gate: Gate, endpoint: str, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    chosen: list[Check] = []
    if gate.runtime_handlers:
        chosen.append(partial(runtime_checks.handlers, node, endpoint, gate.runtime_handlers))
    elif gate.cgroup_driver:
        chosen.append(partial(runtime_checks.cgroup_driver, node, endpoint, gate.cgroup_driver))
    if gate.pods_return:
        chosen.append(_pods_returned(node, endpoint, before, restarted))
    if gate.cgroup_driver:
        chosen.append(partial(pod_checks.cgroup_shape, node, endpoint, gate.cgroup_driver))
    return chosen
