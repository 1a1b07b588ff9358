# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a transaction in order, each with its undo. Every undo can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from ..cri.grpc import CriFailure
from ..errors import ColocationError
from ..health import gate, pod_sandboxes
from ..health.finding import Finding, Verdict
from ..health.node_ready import next_second
from ..health.runtime_checks import ready
from ..host import Host
from ..state import files
from ..state.journal import Journal, State
from ..state.plan_document import FileEdit, Plan, Service, sha256
from ..systemd import service_units, stale_cgroups
from ..systemd.service_units import log_excerpt
from .context import TransactionContext, never_cancelled


def move_aside(host: Host, journal: Journal, backups: str) -> str:
    """Back up each checkpoint unless that was done, record the backups, delete the files; returns a summary."""
    paths = journal.plan.checkpoints
    saved = journal.checkpoints
    if not saved:
        saved = [files.save(host, path, 0o600, backups, f"checkpoint-{index}") for index, path in enumerate(paths)]
        journal.keep_checkpoints(saved)
    for path in paths:
        files.remove(host, path)
    moved = [entry.path for entry in saved if entry.backup is not None]
    return f"moved aside: {', '.join(moved)}" if moved else "no checkpoint existed"


def restore_checkpoints(host: Host, journal: Journal, backups: str) -> str:
    """Restore each checkpoint, replacing one that kubelet created in between."""
    for saved in journal.checkpoints:
        files.restore(host, saved, backups)
    return f"{len(journal.checkpoints)} restored"


RUNTIME_TIMEOUT = 90.0
LOG_MARGIN = 1.0


class StepFailed(ColocationError):
    """A step that ended without the expected effect."""


@dataclass(frozen=True)
class Step:
    """``applies``: whether a plan has this step. ``do`` and ``undo`` return a short summary of their effect.

    Both can be repeated after an interruption.
    """

    name: str
    applies: Callable[[Plan], bool]
    do: Callable[[TransactionContext], str]
    undo: Callable[[TransactionContext], str]
    outlives_boot: bool = False
    """The effect is on disk and must be undone at boot; other effects do not survive a boot."""


def _nothing(context: TransactionContext) -> str:
    return "nothing to undo"


def _stop_kubelet(context: TransactionContext) -> str:
    return _stop(context, context.plan.kubelet)


def _start_kubelet(context: TransactionContext) -> str:
    if context.plan.gate is not None and context.plan.gate.node is not None:
        next_second(context.node)
    context.kubelet_restarted = _time_of_start(context, context.plan.kubelet)
    return _start(context, context.plan.kubelet)


def _time_of_start(context: TransactionContext, service: Service | None) -> float | None:
    """The current time; None if the unit already runs, because an interrupted step started it."""
    running = service is not None and service_units.show(context.node, service.unit).runs
    return None if running else context.node.clock.wall()


def _restart_previous_kubelet(context: TransactionContext) -> str:
    if not context.journal.before["kubelet_runs"]:
        return "it was not running before"
    return _start_kubelet(context)


def _stop_new_kubelet(context: TransactionContext) -> str:
    """Stop kubelet, and remove the sandboxes of the new driver while the runtime that created them still runs."""
    done = _stop(context, context.plan.kubelet)
    if not context.plan.stops_sandboxes:
        return done
    try:
        return f"{done}, {_remove_sandboxes(context)}"
    except ColocationError as error:
        # The runtime itself may have failed. The removal is repeated when it runs with its old configuration.
        return f"{done}; the sandboxes are removed later: {error.message}"


def _remove_sandboxes(context: TransactionContext) -> str:
    sandboxes = context.plan.sandboxes
    if sandboxes is None:
        return ""
    try:
        return f"{pod_sandboxes.remove_all_sandboxes(context.node, sandboxes)} sandboxes removed"
    except CriFailure:
        if context.journal.before["runtime_runs"]:
            raise
        return "the runtime is not running: they are removed after its start"


def _stop_sandboxes(context: TransactionContext) -> str:
    """Remove the sandboxes, after recording the pods that have ended: kubelet does not create those again."""
    sandboxes, before = context.plan.sandboxes, context.journal.before
    if sandboxes is not None and "ended" not in before:
        ended = pod_sandboxes.ended_pods(context.node, sandboxes.endpoint, before["pods"])
        if ended:
            context.journal.keep_ended(ended)
    return _remove_sandboxes(context)


def _remove_new_sandboxes(context: TransactionContext) -> str:
    """Remove sandboxes of the new driver; if no kubelet started with it, the remaining ones are old and stay."""
    if not context.journal.begun(START_KUBELET) or not context.journal.before["runtime_runs"]:
        return "nothing to undo"
    return f"{_remove_sandboxes(context)}; {_remove_cgroups(context, context.plan.fresh_cgroups)}"


def _stop_runtime(context: TransactionContext) -> str:
    return _stop(context, context.plan.runtime)


def _start_runtime(context: TransactionContext) -> str:
    context.runtime_restarted = _time_of_start(context, context.plan.runtime)
    done = _start(context, context.plan.runtime)
    _await_runtime(context)
    if context.plan.stops_sandboxes and not context.journal.before["runtime_runs"]:
        done = f"{done}, {_remove_sandboxes(context)}"
    return done


def _restart_previous_runtime(context: TransactionContext) -> str:
    if not context.journal.before["runtime_runs"]:
        return "it was not running before"
    done = _start(context, context.plan.runtime)
    _await_runtime(context)
    return done


def _await_runtime(context: TransactionContext) -> None:
    """Wait until the CRI responds: kubelet exits immediately if it does not."""
    endpoint = _endpoint(context.plan)
    if endpoint is None or context.plan.runtime is None:
        return
    since = context.node.clock.wall()
    finding = gate.watch(context.node, [lambda: ready(context.node, endpoint)], RUNTIME_TIMEOUT, never_cancelled)[0]
    if finding.verdict is not Verdict.PASSED:
        log = log_excerpt(context.node.host, context.plan.runtime.unit, since - LOG_MARGIN)
        raise StepFailed(f"{context.plan.runtime.unit} is running but not ready: {finding.detail}{log}")


def _endpoint(plan: Plan) -> str | None:
    if plan.sandboxes:
        return plan.sandboxes.endpoint
    return plan.gate.cri_endpoint if plan.gate else None


def _move_checkpoints_aside(context: TransactionContext) -> str:
    return move_aside(context.node.host, context.journal, context.backups)


def _restore_checkpoints(context: TransactionContext) -> str:
    return restore_checkpoints(context.node.host, context.journal, context.backups)


def _remove_stale_cgroups(context: TransactionContext) -> str:
    return _remove_cgroups(context, context.plan.stale_cgroups)


def _remove_fresh_cgroups(context: TransactionContext) -> str:
    return _remove_cgroups(context, context.plan.fresh_cgroups)


def _remove_cgroups(context: TransactionContext, names: tuple[str, ...]) -> str:
    return ", ".join(stale_cgroups.remove_cgroup(context.node, name) for name in names)


def _write_files(context: TransactionContext) -> str:
    saved = {entry.path: entry for entry in context.journal.files}
    remaining = [edit for edit in context.plan.files if not _is_written(context, edit)]
    for edit in remaining:
        if saved[edit.path].sha256 != edit.before_sha256:
            raise files.ChangedConcurrently(edit.path)
        files.require_unchanged(context.node.host, saved[edit.path])
    for edit in remaining:
        context.journal.begin_file(edit.path)
        try:
            _change(context, edit, saved[edit.path])
        except files.ChangedConcurrently:
            context.journal.cancel_file(edit.path)
            raise
    return ", ".join(edit.path for edit in context.plan.files)


def _change(context: TransactionContext, edit: FileEdit, saved: files.Saved) -> None:
    if edit.removes:
        files.delete(context.node.host, saved)
    else:
        files.write(context.node.host, saved, edit.after or b"", edit.attributes)


def _is_written(context: TransactionContext, edit: FileEdit) -> bool:
    """Whether the file was written before an interruption of the step; a file is replaced atomically."""
    written = edit.path in context.journal.written
    return written and files.content_sha256(context.node.host, edit.path) == edit.after_sha256


def _restore_files(context: TransactionContext) -> str:
    written = context.journal.written
    indexes = [index for index, saved in enumerate(context.journal.files) if saved.path in written]
    notes = [note for note in (_restore_file(context, index) for index in indexes) if note]
    return f"{len(indexes)} restored{''.join('; ' + note for note in notes)}"


def _restore_file(context: TransactionContext, index: int) -> str:
    """Restore one file; content that is neither the planned nor the original one is saved in the backups and named."""
    saved, edit = context.journal.files[index], context.plan.files[index]
    content = files.read_content(context.node.host, saved.path)
    note = ""
    if content is not None and sha256(content) not in (saved.sha256, edit.after_sha256):
        copy = f"{context.backups}/foreign-{index}"
        files.write_private(copy, content)
        note = f"{saved.path} was changed by someone else in between; that content is saved in {copy}"
    files.restore(context.node.host, saved, context.backups)
    return note


def _pass_gate(context: TransactionContext) -> str:
    context.journal.enter(State.VERIFYING)
    checks = gate.checks(context.node, context.plan, context.journal.before, context.restarted)
    timeout = context.plan.gate.timeout if context.plan.gate else gate.DEFAULT_TIMEOUT
    findings = gate.watch(context.node, checks, timeout, context.check_cancelled, _progress_recorder(context))
    context.journal.keep_gate([finding.document() for finding in findings])
    failed = gate.failures(findings)
    if failed:
        problems = "; ".join(f"{finding.check}: {finding.detail}" for finding in failed)
        raise StepFailed(f"the node is not healthy with the new settings: {problems}{_kubelet_log(context)}")
    return f"{len(findings)} checks"


def _progress_recorder(context: TransactionContext) -> Callable[[list[Finding]], None]:
    """Records the findings of a round if a verdict changed, to report the progress."""
    last: list[Finding] = []

    def record(findings: list[Finding]) -> None:
        if [finding.verdict for finding in findings] != [finding.verdict for finding in last]:
            context.journal.keep_gate([finding.progress() for finding in findings])
        last[:] = findings

    return record


def _kubelet_log(context: TransactionContext) -> str:
    if context.plan.kubelet is None or context.kubelet_restarted is None:
        return ""
    return log_excerpt(context.node.host, context.plan.kubelet.unit, context.kubelet_restarted - LOG_MARGIN)


def _stop(context: TransactionContext, service: Service | None) -> str:
    if service is None:
        return ""
    service_units.stop(context.node, service.unit)
    return f"{service.unit} stopped"


def _start(context: TransactionContext, service: Service | None) -> str:
    if service is None:
        return ""
    service_units.start(context.node, service.unit)
    return f"{service.unit} started"


STOP_KUBELET = "stop kubelet"
STOP_RUNTIME = "stop runtime"
START_RUNTIME = "start runtime"
START_KUBELET = "start kubelet"
WRITE_FILES = "write files"
HEALTH_GATE = "health gate"

# Undone in reverse order: stop the started services, restore the files, start the stopped services.
STEPS = (
    Step(STOP_KUBELET, lambda plan: plan.restarts_kubelet, _stop_kubelet, _restart_previous_kubelet),
    Step("remove sandboxes", lambda plan: plan.stops_sandboxes, _stop_sandboxes, _remove_new_sandboxes),
    Step(STOP_RUNTIME, lambda plan: plan.restarts_runtime, _stop_runtime, _restart_previous_runtime),
    Step(
        "move checkpoints aside",
        lambda plan: bool(plan.checkpoints),
        _move_checkpoints_aside,
        _restore_checkpoints,
        outlives_boot=True,
    ),
    Step(
        "remove stale cgroups",
        lambda plan: bool(plan.stale_cgroups or plan.fresh_cgroups),
        _remove_stale_cgroups,
        _remove_fresh_cgroups,
    ),
    Step(WRITE_FILES, lambda plan: bool(plan.files), _write_files, _restore_files, outlives_boot=True),
    Step(START_RUNTIME, lambda plan: plan.restarts_runtime, _start_runtime, _stop_runtime),
    Step(START_KUBELET, lambda plan: plan.restarts_kubelet, _start_kubelet, _stop_new_kubelet),
    Step(HEALTH_GATE, lambda plan: plan.gate is not None, _pass_gate, _nothing),
)
