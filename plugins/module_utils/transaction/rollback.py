# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rolls back the begun steps of a journal: on a running node all, at boot only those of files and checkpoints.

At boot, services are neither started nor stopped: systemd starts them after this unit, so a start would wait for itself
and a stop would cancel it (systemctl(1), --job-mode=replace). Cgroups and running pods do not survive a power cut.
"""

from __future__ import annotations

from ..health import gate
from ..health.finding import Finding, Verdict
from ..state.files import Saved, content_sha256
from ..state.journal import State
from ..systemd.service_units import ServiceError, show
from . import boot_unit
from .context import ROLLBACK_GATES, TransactionContext, error_message, never_cancelled
from .steps import STEPS, Step


def roll_back(context: TransactionContext, reason: str) -> None:
    """Undo every begun step in reverse order, also after a failure; then wait until the node is as healthy as before.

    ``reason`` is reported if the failed step did not record a reason itself.
    """
    boot_unit.defer_if_shutting_down(context.node)
    begin_rollback(context, reason)
    # A step is recorded as begun before it changes anything, so an interrupted step is undone as well.
    troubles = [undo_step(context, step) for step in reversed(STEPS) if context.journal.begun(step.name)]
    failures = _baseline(context)
    # No response of the API server does not mean that the node is unhealthy.
    silent = [finding for finding in failures if finding.verdict is Verdict.SILENT]
    unhealthy = [finding for finding in failures if finding not in silent]
    if unhealthy:
        troubles.append(f"the node is not as healthy as before. {_render_findings(unhealthy)}")
    failed = [trouble for trouble in troubles if trouble]
    if failed:
        boot_unit.defer_if_shutting_down(context.node)
    context.journal.describe_node(
        _describe_node(context, [*failed, *([f"not proven: {_render_findings(silent)}"] if silent else [])])
    )
    context.journal.enter(State.ROLLBACK_FAILED if failed else State.ROLLED_BACK)


def begin_rollback(context: TransactionContext, reason: str) -> None:
    """Record that the roll-back begins, and its reason unless one is recorded already."""
    step = str(context.journal.result()["step"])
    context.journal.enter(State.ROLLING_BACK)
    if context.journal.error is None:
        context.journal.record_failure(step, reason)


def undo_step(context: TransactionContext, step: Step) -> str:
    """Undo one step unless that was done; returns the error message, empty on success."""
    if context.journal.undone(step.name):
        return ""
    name = "undo: " + step.name
    began = context.node.clock.monotonic()
    context.journal.announce(name)
    try:
        detail, trouble = step.undo(context), ""
    except Exception as error:
        detail = error_message(error)
        trouble = f"{name}: {detail}"
    seconds = context.node.clock.monotonic() - began
    status = "failed" if trouble else "done"
    context.journal.end(name, status, seconds, detail)
    context.report(f"{name}: {status} in {seconds:.1f} s")
    if not trouble:
        context.journal.mark_undone(step.name)
    return trouble


def _baseline(context: TransactionContext) -> list[Finding]:
    """Checks that passed before the transaction and do not pass again in time."""
    checks = gate.baseline_checks(context.node, context.plan, context.journal.before, context.restarted)
    if not checks:
        return []
    name = "undo: health gate"
    began = context.node.clock.monotonic()
    context.journal.announce(name)
    timeout = context.plan.gate.timeout if context.plan.gate else gate.DEFAULT_TIMEOUT
    try:
        failures = gate.failures(gate.watch(context.node, checks, ROLLBACK_GATES * timeout, never_cancelled))
    except Exception as error:
        # The result is written only if this function returns.
        failures = [Finding("health gate", Verdict.FAILED, error_message(error))]
    seconds = context.node.clock.monotonic() - began
    context.journal.end(
        name, "failed" if failures else "done", seconds, _render_findings(failures) or "as healthy as before"
    )
    return failures


def _render_findings(findings: list[Finding]) -> str:
    return "; ".join(f"{finding.check}: {finding.detail}" for finding in findings)


def _describe_node(context: TransactionContext, troubles: list[str]) -> str:
    """The current state of the node, for the result."""
    parts = describe_files(context)
    for service in (context.plan.kubelet, context.plan.runtime):
        if service is not None and service.restart:
            parts.append(f"{service.unit} is {_unit(context, service.unit)}")
    return "; ".join(parts + troubles)


def describe_files(context: TransactionContext) -> list[str]:
    """Whether the files have their previous content; if not, where the originals are."""
    different = [saved.path for saved in context.journal.files if not _is_as_before(context, saved)]
    if not different:
        return ["every file is as it was"]
    return [f"NOT as before: {', '.join(different)}", f"the originals are in {context.backups}"]


def _unit(context: TransactionContext, unit: str) -> str:
    try:
        return show(context.node, unit).active
    except ServiceError as error:
        return error.message


def _is_as_before(context: TransactionContext, saved: Saved) -> bool:
    try:
        return content_sha256(context.node.host, saved.path) == saved.sha256
    except Exception:
        return False


REASON = "the node went down during the transaction"


def roll_back_at_boot(context: TransactionContext) -> None:
    """Undo every begun step that outlives a boot, in reverse order; checks of the running node remain to be done."""
    begin_rollback(context, REASON)
    errors = [
        undo_step(context, step) for step in reversed(STEPS) if step.outlives_boot and context.journal.begun(step.name)
    ]
    troubles = [trouble for trouble in errors if trouble]
    context.journal.describe_node("; ".join([*describe_files(context), *_started_by_boot(context), *troubles]))
    context.journal.end_at_boot(_unverified(context), troubles)


def _started_by_boot(context: TransactionContext) -> list[str]:
    restarted = [unit for unit in (context.plan.runtime, context.plan.kubelet) if unit is not None and unit.restart]
    return [f"{service.unit} is started by the boot" for service in restarted]


def _unverified(context: TransactionContext) -> list[str]:
    """What was running before, and has not been verified since."""
    before = context.journal.before
    unverified = []
    if context.plan.restarts_runtime and before["runtime_runs"] and context.plan.runtime:
        unverified.append(f"{context.plan.runtime.unit} runs")
    if context.plan.restarts_kubelet and before["kubelet_runs"] and context.plan.kubelet:
        unverified.append(f"{context.plan.kubelet.unit} runs")
    if before["pods"]:
        unverified.append(f"{len(before['pods'])} pods run as before")
    node = context.plan.gate.node if context.plan.gate else None
    if node is not None and before.get("node") and before["node"]["ready"]:
        unverified.append(f"Node {node.name} is Ready in the cluster")
    return unverified
