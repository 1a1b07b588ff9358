# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health gate: selects the checks that apply, and waits for them with a timeout."""

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
"""Seconds between two rounds: three times the duration of a round, within these limits."""
DEFAULT_TIMEOUT = 180.0

Check = Callable[[], Finding]


@dataclass(frozen=True)
class Restarts:
    """Start times of the services in seconds since 1970; None: not started, or started by an earlier process."""

    kubelet: float | None
    runtime: float | None


def checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """The checks that the plan requests."""
    gate = plan.gate
    if gate is None:
        return []
    selected = _kubelet_checks(node, plan, gate, before)
    if gate.cri_endpoint:
        selected.append(partial(runtime_checks.ready, node, gate.cri_endpoint))
        selected += _cri_checks(node, gate, gate.cri_endpoint, before, restarted)
    if gate.nri_socket:
        selected.append(partial(runtime_checks.nri_socket, node, gate.nri_socket, restarted.runtime))
        if before.get("nri_plugins"):
            selected.append(partial(runtime_checks.nri_plugins, node, gate.nri_socket, before["nri_plugins"]))
    return selected + _node_checks(node, plan, before, restarted)


def baseline_checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """The checks after a roll-back: the node must be as healthy as before the transaction."""
    gate = plan.gate
    if gate is None or not before["kubelet_runs"] or not plan.restarts_kubelet:
        return []
    selected: list[Check] = []
    if plan.kubelet:
        selected.append(kubelet_checks.KubeletStableCheck(node, plan.kubelet.unit))
    if gate.kubelet_healthz and before["kubelet_healthy"]:
        selected.append(partial(kubelet_checks.healthz, node, gate.kubelet_healthz))
    if gate.cri_endpoint and gate.pods_return and before["pods"]:
        selected.append(_pods_returned(node, gate.cri_endpoint, before, restarted))
    if _was_ready(before):
        selected += _node_checks(node, plan, before, restarted)
    return selected


def ignore_progress(_findings: list[Finding]) -> None:
    """Discard the progress."""


def watch(
    node: Node,
    checks_to_pass: list[Check],
    timeout: float,
    check_cancelled: Callable[[], None],
    report: Callable[[list[Finding]], None] = ignore_progress,
) -> list[Finding]:
    """Repeat the checks until all have passed, one has failed, or the timeout has expired.

    A passed check is not repeated until all have passed, because a node that starts its pods is busy; then all checks
    run again in one round. ``check_cancelled`` is called before each round and may raise; ``report`` gets the findings
    of each round.
    """
    deadline = node.clock.monotonic() + timeout
    passed: dict[int, Finding] = {}
    while True:
        check_cancelled()
        began = node.clock.monotonic()
        findings = [passed[index] if index in passed else check() for index, check in enumerate(checks_to_pass)]
        report(findings)
        verdicts = [finding.verdict for finding in findings]
        waiting = any(verdict in PENDING for verdict in verdicts)
        now = node.clock.monotonic()
        if Verdict.FAILED in verdicts or not (waiting or passed) or now >= deadline:
            return findings
        passed = {}
        if waiting:
            passed = {index: finding for index, finding in enumerate(findings) if finding.verdict is Verdict.PASSED}
            node.clock.sleep(min(max(PAUSE, PAUSES_PER_ROUND * (now - began)), LONGEST_PAUSE))


def failures(findings: list[Finding]) -> list[Finding]:
    """The findings that stop a transaction."""
    return [finding for finding in findings if finding.verdict in (Verdict.FAILED, *PENDING)]


def _kubelet_checks(node: Node, plan: Plan, gate: Gate, before: dict[str, Any]) -> list[Check]:
    selected: list[Check] = []
    if plan.kubelet:
        selected.append(kubelet_checks.KubeletStableCheck(node, plan.kubelet.unit))
    selected += _healthz_checks(node, plan, gate, before)
    if gate.cpu_manager:
        selected.append(partial(kubelet_checks.checkpoint, node, "CPU manager checkpoint", gate.cpu_manager))
    if gate.memory_manager:
        selected.append(partial(kubelet_checks.checkpoint, node, "memory manager checkpoint", gate.memory_manager))
    return selected


def _healthz_checks(node: Node, plan: Plan, gate: Gate, before: dict[str, Any]) -> list[Check]:
    """The check of healthz; journals of versions that did not record ``healthz`` demand it."""
    requirement = before.get("healthz") or {"demanded": True}
    if gate.kubelet_healthz is None:
        return [kubelet_checks.disabled_healthz] if plan.restarts_kubelet else []
    if requirement["demanded"]:
        return [partial(kubelet_checks.healthz, node, gate.kubelet_healthz)]
    return [partial(kubelet_checks.optional_healthz, node, gate.kubelet_healthz, requirement["reason"])]


def _was_ready(before: dict[str, Any]) -> bool:
    """Whether the Node was Ready; journals of versions without this check do not record it."""
    return bool(before.get("node") and before["node"]["ready"])


def _node_checks(node: Node, plan: Plan, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    """The check of the Node; if it was not known to be Ready before, the finding only says so."""
    if plan.gate is None or plan.gate.node is None:
        return []
    if plan.kubelet is None or not _was_ready(before):
        return [partial(node_ready.not_required, before)]
    return [partial(node_ready.ready, node, plan.gate.node, plan.kubelet.unit, restarted.kubelet)]


def _pods_returned(node: Node, endpoint: str, before: dict[str, Any], restarted: Restarts) -> Check:
    ended = before.get("ended", ())
    return partial(pod_checks.pods_returned, node, endpoint, before["pods"], ended, restarted.kubelet)


def _cri_checks(node: Node, gate: Gate, endpoint: str, before: dict[str, Any], restarted: Restarts) -> list[Check]:
    selected: list[Check] = []
    if gate.runtime_handlers:
        selected.append(partial(runtime_checks.handlers, node, endpoint, gate.runtime_handlers))
    elif gate.cgroup_driver:
        selected.append(partial(runtime_checks.cgroup_driver, node, endpoint, gate.cgroup_driver))
    if gate.pods_return:
        selected.append(_pods_returned(node, endpoint, before, restarted))
    if gate.cgroup_driver:
        selected.append(partial(pod_checks.cgroup_shape, node, endpoint, gate.cgroup_driver))
    return selected
