# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health gate: which checks apply, and waiting for them with a deadline."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from . import kubelet_checks, pod_checks, runtime_checks
from .finding import Finding, Verdict
from .node import Node
from .plan import Gate, Plan

PAUSE = 1.0
DEFAULT_TIMEOUT = 180.0

Check = Callable[[], Finding]


def checks(node: Node, plan: Plan, before: dict[str, Any], runtime_restarted: float | None) -> list[Check]:
    """The checks that the plan asks for. ``runtime_restarted``: when, in seconds since 1970, None if it was not."""
    gate = plan.gate
    if gate is None:
        return []
    chosen = _kubelet_checks(node, plan, gate)
    if gate.cri_endpoint:
        chosen.append(partial(runtime_checks.ready, node, gate.cri_endpoint))
        chosen += _cri_checks(node, gate, gate.cri_endpoint, before)
    if gate.nri_socket:
        chosen.append(partial(runtime_checks.nri_socket, node, gate.nri_socket, runtime_restarted))
    return chosen


def baseline_checks(node: Node, plan: Plan, before: dict[str, Any]) -> list[Check]:
    """What must be true again after a roll-back: as much of the node's health as it had before."""
    gate = plan.gate
    if gate is None or not before["kubelet_runs"] or not plan.restarts_kubelet:
        return []
    chosen: list[Check] = []
    if plan.kubelet:
        chosen.append(kubelet_checks.Steady(node, plan.kubelet.unit))
    if gate.kubelet_healthz and before["kubelet_healthy"]:
        chosen.append(partial(kubelet_checks.healthz, node, gate.kubelet_healthz))
    if gate.cri_endpoint and gate.pods_return and before["pods"]:
        chosen.append(partial(pod_checks.pods_returned, node, gate.cri_endpoint, before["pods"]))
    return chosen


def watch(node: Node, wanted: list[Check], timeout: float, heed: Callable[[], None]) -> list[Finding]:
    """Ask until every check has an answer that stays, one has failed for good, or the time is over.

    ``heed`` is called before each round and may raise.
    """
    deadline = node.clock.monotonic() + timeout
    while True:
        heed()
        findings = [check() for check in wanted]
        verdicts = [finding.verdict for finding in findings]
        if Verdict.WAITING not in verdicts or Verdict.FAILED in verdicts:
            return findings
        if node.clock.monotonic() >= deadline:
            return findings
        node.clock.sleep(PAUSE)


def failures(findings: list[Finding]) -> list[Finding]:
    """The findings that stop a transaction."""
    return [finding for finding in findings if finding.verdict in (Verdict.FAILED, Verdict.WAITING)]


def _kubelet_checks(node: Node, plan: Plan, gate: Gate) -> list[Check]:
    chosen: list[Check] = []
    if plan.kubelet:
        chosen.append(kubelet_checks.Steady(node, plan.kubelet.unit))
    if gate.kubelet_healthz:
        chosen.append(partial(kubelet_checks.healthz, node, gate.kubelet_healthz))
    if gate.cpu_manager:
        chosen.append(partial(kubelet_checks.cpu_manager, node, gate.cpu_manager))
    return chosen


def _cri_checks(node: Node, gate: Gate, endpoint: str, before: dict[str, Any]) -> list[Check]:
    chosen: list[Check] = []
    if gate.runtime_handlers:
        chosen.append(partial(runtime_checks.handlers, node, endpoint, gate.runtime_handlers))
    if gate.pods_return:
        chosen.append(partial(pod_checks.pods_returned, node, endpoint, before["pods"]))
    if gate.cgroup_driver:
        chosen.append(partial(pod_checks.cgroup_shape, node, endpoint, gate.cgroup_driver))
    return chosen
