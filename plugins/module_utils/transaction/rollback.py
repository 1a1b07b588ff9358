# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoing what a journal says was begun: on a running node all of it, at boot files only.

At boot services are neither started nor stopped: systemd has their start queued behind this, so that a start would wait
for itself and a stop would cancel it (systemctl(1), --job-mode=replace). Cgroups and running pods went with the power.
"""

from __future__ import annotations

from ..health import gate
from ..health.finding import Finding, Verdict
from ..state.files import Saved, content_sha256
from ..state.journal import State
from ..systemd.service_units import ServiceError, show
from . import boot_unit
from .context import TransactionContext, error_message, never_cancelled
from .steps import STEPS, Step
from .time_limits import ROLLBACK_GATES


def roll_back(work: TransactionContext, reason: str) -> None:
    """Undo every begun step, the last one first, going on when one fails; then wait for the health of before.

    ``reason`` is what the answer says when no step has given a reason of its own.
    """
    boot_unit.defer_if_shutting_down(work.node)
    begin_rollback(work, reason)
    # A step counts as begun before it does anything, so that one that was cut off is undone as well.
    troubles = [undo_step(work, step) for step in reversed(STEPS) if work.journal.begun(step.name)]
    left = _baseline(work)
    # An API server that does not answer says nothing against the node.
    silent = [finding for finding in left if finding.verdict is Verdict.SILENT]
    unhealthy = [finding for finding in left if finding not in silent]
    if unhealthy:
        troubles.append(f"the node is not as healthy as before. {_render_findings(unhealthy)}")
    failed = [trouble for trouble in troubles if trouble]
    if failed:
        boot_unit.defer_if_shutting_down(work.node)
    work.journal.describe_node(
        _describe_node(work, [*failed, *([f"not proven: {_render_findings(silent)}"] if silent else [])])
    )
    work.journal.enter(State.ROLLBACK_FAILED if failed else State.ROLLED_BACK)


def begin_rollback(work: TransactionContext, reason: str) -> None:
    """Note that undoing begins, and why unless that is noted already."""
    step = str(work.journal.result()["step"])
    work.journal.enter(State.ROLLING_BACK)
    if work.journal.error is None:
        work.journal.record_failure(step, reason)


def undo_step(work: TransactionContext, step: Step) -> str:
    """Undo one step unless that was done; the trouble in words, empty when there was none."""
    if work.journal.undone(step.name):
        return ""
    name = "undo: " + step.name
    began = work.node.clock.monotonic()
    work.journal.announce(name)
    try:
        detail, trouble = step.undo(work), ""
    except Exception as error:
        detail = error_message(error)
        trouble = f"{name}: {detail}"
    seconds = work.node.clock.monotonic() - began
    status = "failed" if trouble else "done"
    work.journal.end(name, status, seconds, detail)
    work.report(f"{name}: {status} in {seconds:.1f} s")
    if not trouble:
        work.journal.mark_undone(step.name)
    return trouble


def _baseline(work: TransactionContext) -> list[Finding]:
    """What of the health of before did not come back in time."""
    wanted = gate.baseline_checks(work.node, work.plan, work.journal.before, work.restarted)
    if not wanted:
        return []
    name = "undo: health gate"
    began = work.node.clock.monotonic()
    work.journal.announce(name)
    timeout = work.plan.gate.timeout if work.plan.gate else gate.DEFAULT_TIMEOUT
    try:
        left = gate.failures(gate.watch(work.node, wanted, ROLLBACK_GATES * timeout, never_cancelled))
    except Exception as error:
        # There is no answer unless this comes to its end.
        left = [Finding("health gate", Verdict.FAILED, error_message(error))]
    seconds = work.node.clock.monotonic() - began
    work.journal.end(name, "failed" if left else "done", seconds, _render_findings(left) or "as healthy as before")
    return left


def _render_findings(findings: list[Finding]) -> str:
    return "; ".join(f"{finding.check}: {finding.detail}" for finding in findings)


def _describe_node(work: TransactionContext, troubles: list[str]) -> str:
    """What the node is now, for people."""
    parts = describe_files(work)
    for service in (work.plan.kubelet, work.plan.runtime):
        if service is not None and service.restart:
            parts.append(f"{service.unit} is {_unit(work, service.unit)}")
    return "; ".join(parts + troubles)


def describe_files(work: TransactionContext) -> list[str]:
    """In words, whether the files are what they were, and where the originals are if they are not."""
    different = [saved.path for saved in work.journal.files if not _is_as_before(work, saved)]
    if not different:
        return ["every file is as it was"]
    return [f"NOT as before: {', '.join(different)}", f"the originals are in {work.backups}"]


def _unit(work: TransactionContext, unit: str) -> str:
    try:
        return show(work.node, unit).active
    except ServiceError as error:
        return error.message


def _is_as_before(work: TransactionContext, saved: Saved) -> bool:
    try:
        return content_sha256(work.node.host, saved.path) == saved.sha256
    except Exception:
        return False


REASON = "the node went down in the middle of it"


def roll_back_at_boot(work: TransactionContext) -> None:
    """Undo every begun step that outlives a boot, the last one first. What a running node shows is left to prove."""
    begin_rollback(work, REASON)
    told = [undo_step(work, step) for step in reversed(STEPS) if step.outlives_boot and work.journal.begun(step.name)]
    troubles = [trouble for trouble in told if trouble]
    work.journal.describe_node("; ".join([*describe_files(work), *_started_by_boot(work), *troubles]))
    work.journal.end_at_boot(_unverified(work), troubles)


def _started_by_boot(work: TransactionContext) -> list[str]:
    restarted = [each for each in (work.plan.runtime, work.plan.kubelet) if each is not None and each.restart]
    return [f"{service.unit} is left to the boot" for service in restarted]


def _unverified(work: TransactionContext) -> list[str]:
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
