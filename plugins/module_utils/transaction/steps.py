# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a transaction in their order, each with what undoes it. Every undo can be repeated."""

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
    """Copy each checkpoint to the backups unless that was done, note that, then remove it; says what was there."""
    paths = journal.plan.checkpoints
    saved = journal.checkpoints
    if not saved:
        saved = [files.save(host, path, 0o600, backups, f"checkpoint-{index}") for index, path in enumerate(paths)]
        journal.keep_checkpoints(saved)
    for path in paths:
        files.remove(host, path)
    there = [entry.path for entry in saved if entry.backup is not None]
    return f"moved aside: {', '.join(there)}" if there else "there was none"


def restore_checkpoints(host: Host, journal: Journal, backups: str) -> str:
    """Make each checkpoint what it was, dropping one that a kubelet made in between."""
    for saved in journal.checkpoints:
        files.restore(host, saved, backups)
    return f"{len(journal.checkpoints)} put back"


RUNTIME_TIMEOUT = 90.0
LOG_MARGIN = 1.0


class StepFailed(ColocationError):
    """A step that came to its end without what it was for."""


@dataclass(frozen=True)
class Step:
    """``do`` and ``undo`` return a few words about what they did; ``wanted`` says whether a plan has this step.

    Both can be repeated after they were cut off.
    """

    name: str
    wanted: Callable[[Plan], bool]
    do: Callable[[TransactionContext], str]
    undo: Callable[[TransactionContext], str]
    outlives_boot: bool = False
    """What it did is on disk. The rest is as systemd and kubelet make it when the node boots."""


def _nothing(work: TransactionContext) -> str:
    return "nothing to undo"


def _stop_kubelet(work: TransactionContext) -> str:
    return _stop(work, work.plan.kubelet)


def _start_kubelet(work: TransactionContext) -> str:
    if work.plan.gate is not None and work.plan.gate.node is not None:
        next_second(work.node)
    work.kubelet_restarted = _time_of_start(work, work.plan.kubelet)
    return _start(work, work.plan.kubelet)


def _time_of_start(work: TransactionContext, service: Service | None) -> float | None:
    """Now; None when the unit runs, because it was started by a step that was cut off."""
    running = service is not None and service_units.show(work.node, service.unit).runs
    return None if running else work.node.clock.wall()


def _kubelet_as_before(work: TransactionContext) -> str:
    if not work.journal.before["kubelet_runs"]:
        return "it did not run before"
    return _start_kubelet(work)


def _stop_new_kubelet(work: TransactionContext) -> str:
    """The sandboxes that it made under the new driver go while the runtime they were made with still runs."""
    done = _stop(work, work.plan.kubelet)
    if not work.plan.stops_sandboxes:
        return done
    try:
        return f"{done}, {_remove_sandboxes(work)}"
    except ColocationError as error:
        # The runtime may be what failed. They are looked for again when it runs with its old configuration.
        return f"{done}; the sandboxes come later: {error.message}"


def _remove_sandboxes(work: TransactionContext) -> str:
    wanted = work.plan.sandboxes
    if wanted is None:
        return ""
    try:
        return f"{pod_sandboxes.remove_all_sandboxes(work.node, wanted)} sandboxes removed"
    except CriFailure:
        if work.journal.before["runtime_runs"]:
            raise
        return "the runtime does not run: done after its start"


def _stop_sandboxes(work: TransactionContext) -> str:
    """What has ended by now leaves no trace, and a kubelet that saw its end does not make it again."""
    wanted, before = work.plan.sandboxes, work.journal.before
    if wanted is not None and "ended" not in before:
        ended = pod_sandboxes.ended_pods(work.node, wanted.endpoint, before["pods"])
        if ended:
            work.journal.keep_ended(ended)
    return _remove_sandboxes(work)


def _remove_new_sandboxes(work: TransactionContext) -> str:
    """Only what a kubelet made under the new driver; without one, those left are the old ones."""
    if not work.journal.begun(START_KUBELET) or not work.journal.before["runtime_runs"]:
        return "nothing to undo"
    return f"{_remove_sandboxes(work)}; {_remove_cgroups(work, work.plan.fresh_cgroups)}"


def _stop_runtime(work: TransactionContext) -> str:
    return _stop(work, work.plan.runtime)


def _start_runtime(work: TransactionContext) -> str:
    work.runtime_restarted = _time_of_start(work, work.plan.runtime)
    done = _start(work, work.plan.runtime)
    _await_runtime(work)
    if work.plan.stops_sandboxes and not work.journal.before["runtime_runs"]:
        done = f"{done}, {_remove_sandboxes(work)}"
    return done


def _runtime_as_before(work: TransactionContext) -> str:
    if not work.journal.before["runtime_runs"]:
        return "it did not run before"
    done = _start(work, work.plan.runtime)
    _await_runtime(work)
    return done


def _await_runtime(work: TransactionContext) -> None:
    """kubelet ends at once when the CRI does not answer yet, so it is waited for."""
    endpoint = _endpoint(work.plan)
    if endpoint is None or work.plan.runtime is None:
        return
    since = work.node.clock.wall()
    finding = gate.watch(work.node, [lambda: ready(work.node, endpoint)], RUNTIME_TIMEOUT, never_cancelled)[0]
    if finding.verdict is not Verdict.PASSED:
        log = log_excerpt(work.node.host, work.plan.runtime.unit, since - LOG_MARGIN)
        raise StepFailed(f"{work.plan.runtime.unit} is up but not ready: {finding.detail}{log}")


def _endpoint(plan: Plan) -> str | None:
    if plan.sandboxes:
        return plan.sandboxes.endpoint
    return plan.gate.cri_endpoint if plan.gate else None


def _move_checkpoints_aside(work: TransactionContext) -> str:
    return move_aside(work.node.host, work.journal, work.backups)


def _restore_checkpoints(work: TransactionContext) -> str:
    return restore_checkpoints(work.node.host, work.journal, work.backups)


def _remove_stale_cgroups(work: TransactionContext) -> str:
    return _remove_cgroups(work, work.plan.stale_cgroups)


def _remove_fresh_cgroups(work: TransactionContext) -> str:
    return _remove_cgroups(work, work.plan.fresh_cgroups)


def _remove_cgroups(work: TransactionContext, names: tuple[str, ...]) -> str:
    return ", ".join(stale_cgroups.remove_cgroup(work.node, name) for name in names)


def _write_files(work: TransactionContext) -> str:
    saved = {entry.path: entry for entry in work.journal.files}
    left = [edit for edit in work.plan.files if not _is_written(work, edit)]
    for edit in left:
        if saved[edit.path].sha256 != edit.before_sha256:
            raise files.ChangedConcurrently(edit.path)
        files.require_unchanged(work.node.host, saved[edit.path])
    for edit in left:
        work.journal.begin_file(edit.path)
        try:
            _change(work, edit, saved[edit.path])
        except files.ChangedConcurrently:
            work.journal.cancel_file(edit.path)
            raise
    return ", ".join(edit.path for edit in work.plan.files)


def _change(work: TransactionContext, edit: FileEdit, saved: files.Saved) -> None:
    if edit.removes:
        files.delete(work.node.host, saved)
    else:
        files.write(work.node.host, saved, edit.after or b"", edit.attributes)


def _is_written(work: TransactionContext, edit: FileEdit) -> bool:
    """Whether this was done before the step was cut off: a file is replaced whole."""
    written = edit.path in work.journal.written
    return written and files.content_sha256(work.node.host, edit.path) == edit.after_sha256


def _restore_files(work: TransactionContext) -> str:
    ours = work.journal.written
    indexes = [index for index, saved in enumerate(work.journal.files) if saved.path in ours]
    kept = [note for note in (_restore_file(work, index) for index in indexes) if note]
    return f"{len(indexes)} put back{''.join('; ' + note for note in kept)}"


def _restore_file(work: TransactionContext, index: int) -> str:
    """Put one file back; a text that is neither ours nor the original is kept in the backups and named."""
    saved, edit = work.journal.files[index], work.plan.files[index]
    found = files.read_content(work.node.host, saved.path)
    note = ""
    if found is not None and sha256(found) not in (saved.sha256, edit.after_sha256):
        copy = f"{work.backups}/foreign-{index}"
        files.write_private(copy, found)
        note = f"{saved.path} had been changed by someone else meanwhile, that text is kept in {copy}"
    files.restore(work.node.host, saved, work.backups)
    return note


def _pass_gate(work: TransactionContext) -> str:
    work.journal.enter(State.VERIFYING)
    wanted = gate.checks(work.node, work.plan, work.journal.before, work.restarted)
    timeout = work.plan.gate.timeout if work.plan.gate else gate.DEFAULT_TIMEOUT
    findings = gate.watch(work.node, wanted, timeout, work.check_cancelled, _progress_recorder(work))
    work.journal.keep_gate([finding.document() for finding in findings])
    failed = gate.failures(findings)
    if failed:
        what = "; ".join(f"{finding.check}: {finding.detail}" for finding in failed)
        raise StepFailed(f"the node is not healthy with the new settings: {what}{_kubelet_log(work)}")
    return f"{len(findings)} checks"


def _progress_recorder(work: TransactionContext) -> Callable[[list[Finding]], None]:
    """Notes the answers of a round where they are not those of the last one, for whoever asks how far it is."""
    last: list[Finding] = []

    def tell(findings: list[Finding]) -> None:
        if [each.verdict for each in findings] != [each.verdict for each in last]:
            work.journal.keep_gate([each.progress() for each in findings])
        last[:] = findings

    return tell


def _kubelet_log(work: TransactionContext) -> str:
    if work.plan.kubelet is None or work.kubelet_restarted is None:
        return ""
    return log_excerpt(work.node.host, work.plan.kubelet.unit, work.kubelet_restarted - LOG_MARGIN)


def _stop(work: TransactionContext, service: Service | None) -> str:
    if service is None:
        return ""
    service_units.stop(work.node, service.unit)
    return f"{service.unit} stopped"


def _start(work: TransactionContext, service: Service | None) -> str:
    if service is None:
        return ""
    service_units.start(work.node, service.unit)
    return f"{service.unit} started"


STOP_KUBELET = "stop kubelet"
STOP_RUNTIME = "stop runtime"
START_RUNTIME = "start runtime"
START_KUBELET = "start kubelet"
WRITE_FILES = "write files"
HEALTH_GATE = "health gate"

# Undone from the end to the beginning: stopping what was started, putting files back, starting what was stopped.
STEPS = (
    Step(STOP_KUBELET, lambda plan: plan.restarts_kubelet, _stop_kubelet, _kubelet_as_before),
    Step("remove sandboxes", lambda plan: plan.stops_sandboxes, _stop_sandboxes, _remove_new_sandboxes),
    Step(STOP_RUNTIME, lambda plan: plan.restarts_runtime, _stop_runtime, _runtime_as_before),
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
