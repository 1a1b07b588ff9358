# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoing what a journal says was begun."""

from __future__ import annotations

from . import boot, gate
from .files import Saved, content_sha256
from .finding import Finding, Verdict
from .journal import State
from .limits import PATIENCE
from .services import ServiceError, show
from .steps import STEPS, Step
from .wording import in_words
from .work import Work, go_on


def roll_back(work: Work, reason: str) -> None:
    """Undo every begun step, the last one first, going on when one fails; then wait for the health of before.

    ``reason`` is what the answer says when no step has given a reason of its own.
    """
    boot.leave_if_going_down(work.node)
    begin(work, reason)
    # A step counts as begun before it does anything, so that one that was cut off is undone as well.
    troubles = [undo(work, step) for step in reversed(STEPS) if work.journal.begun(step.name)]
    left = _baseline(work)
    # An API server that does not answer says nothing against the node.
    silent = [finding for finding in left if finding.verdict is Verdict.SILENT]
    unhealthy = [finding for finding in left if finding not in silent]
    if unhealthy:
        troubles.append(f"the node is not as healthy as before. {_told(unhealthy)}")
    failed = [trouble for trouble in troubles if trouble]
    if failed:
        boot.leave_if_going_down(work.node)
    work.journal.describe_node(_description(work, [*failed, *([f"not proven: {_told(silent)}"] if silent else [])]))
    work.journal.enter(State.ROLLBACK_FAILED if failed else State.ROLLED_BACK)


def begin(work: Work, reason: str) -> None:
    """Note that undoing begins, and why unless that is noted already."""
    step = str(work.journal.result()["step"])
    work.journal.enter(State.ROLLING_BACK)
    if work.journal.error is None:
        work.journal.blame(step, reason)


def undo(work: Work, step: Step) -> str:
    """Undo one step unless that was done; the trouble in words, empty when there was none."""
    if work.journal.undone(step.name):
        return ""
    name = "undo: " + step.name
    began = work.node.clock.monotonic()
    work.journal.announce(name)
    try:
        detail, trouble = step.undo(work), ""
    except Exception as error:
        detail = in_words(error)
        trouble = f"{name}: {detail}"
    seconds = work.node.clock.monotonic() - began
    status = "failed" if trouble else "done"
    work.journal.end(name, status, seconds, detail)
    work.report(f"{name}: {status} in {seconds:.1f} s")
    if not trouble:
        work.journal.mark_undone(step.name)
    return trouble


def _baseline(work: Work) -> list[Finding]:
    """What of the health of before did not come back in time."""
    wanted = gate.baseline_checks(work.node, work.plan, work.journal.before, work.restarted)
    if not wanted:
        return []
    name = "undo: health gate"
    began = work.node.clock.monotonic()
    work.journal.announce(name)
    timeout = work.plan.gate.timeout if work.plan.gate else gate.DEFAULT_TIMEOUT
    try:
        left = gate.failures(gate.watch(work.node, wanted, PATIENCE * timeout, go_on))
    except Exception as error:
        # There is no answer unless this comes to its end.
        left = [Finding("health gate", Verdict.FAILED, in_words(error))]
    seconds = work.node.clock.monotonic() - began
    work.journal.end(name, "failed" if left else "done", seconds, _told(left) or "as healthy as before")
    return left


def _told(findings: list[Finding]) -> str:
    return "; ".join(f"{finding.check}: {finding.detail}" for finding in findings)


def _description(work: Work, troubles: list[str]) -> str:
    """What the node is now, for people."""
    parts = different_files(work)
    for service in (work.plan.kubelet, work.plan.runtime):
        if service is not None and service.restart:
            parts.append(f"{service.unit} is {_unit(work, service.unit)}")
    return "; ".join(parts + troubles)


def different_files(work: Work) -> list[str]:
    """In words, whether the files are what they were, and where the originals are if they are not."""
    different = [saved.path for saved in work.journal.files if not _is_as_before(work, saved)]
    if not different:
        return ["every file is as it was"]
    return [f"NOT as before: {', '.join(different)}", f"the originals are in {work.backups}"]


def _unit(work: Work, unit: str) -> str:
    try:
        return show(work.node, unit).active
    except ServiceError as error:
        return error.message


def _is_as_before(work: Work, saved: Saved) -> bool:
    try:
        return content_sha256(work.node.host, saved.path) == saved.sha256
    except Exception:
        return False
