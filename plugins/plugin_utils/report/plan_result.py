# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results and messages for users about a plan and a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ..plan.change_set import Change, OwnerInstructions, Plan
from ..plan.file_edits import FileEdit
from .facts_document import to_builtins
from .redact import redact_text


def diffs(edits: Iterable[FileEdit]) -> list[dict[str, str]]:
    """Ansible's diff entries, redacted."""
    return [
        {
            "before_header": edit.path,
            "after_header": edit.path,
            "before": redact_text(edit.before or ""),
            "after": redact_text(edit.after),
        }
        for edit in edits
    ]


def _change(change: Change) -> dict[str, Any]:
    return {
        "target": change.target,
        "setting": change.setting,
        "before": change.before,
        "after": change.after,
        "file": change.path,
        "reason": change.reason,
        "message": f"{change.setting}: {change.reason}",
        "impact": sorted(need.value for need in change.needs),
    }


def plan_result(plan: Plan) -> dict[str, Any]:
    """The plan in a module's result: what changes, what stays pending, what was skipped and why."""
    document: dict[str, Any] = to_builtins(
        {
            "changes": [_change(change) for change in plan.changes],
            "pending": [_change(change) for change in plan.pending],
            "unsupported": [{**asdict(skip), "message": str(skip)} for skip in plan.skipped],
            "refusals": [asdict(refusal) for refusal in plan.refusals],
            "permission": asdict(plan.permission) if plan.permission else None,
            "impact": sorted(need.value for need in plan.needs),
            "kubelet": {"strategy": plan.strategy, "paths": list(plan.paths)},
        }
    )
    return document


def render_instructions(owners: Iterable[OwnerInstructions]) -> dict[str, Any]:
    """By owner: its inventory variables, texts for it, and a note on how it uses them."""
    return {owner.owner: {"variables": owner.variables, "files": owner.files, "note": owner.note} for owner in owners}


def refusal_message(plan: Plan) -> str:
    """All reasons why the plan cannot be applied, one per line."""
    reasons = [str(refusal) for refusal in plan.obstacles]
    if len(reasons) == 1:
        return f"Nothing was changed. {reasons[0]}"
    return "\n".join([f"Nothing was changed, for {len(reasons)} reasons:", *(f"- {reason}" for reason in reasons)])


def failure_message(transaction: Mapping[str, Any]) -> str:
    """The message of a transaction that did not commit: the step, the cause, and the node's state."""
    error = transaction.get("error") or {}
    lead = {
        "refused": "Nothing was changed.",
        "rolled-back": "The node was rolled back to its previous state.",
        "rollback-failed": "The node could NOT be rolled back completely; repair it by hand.",
    }.get(transaction["state"], transaction["state"])
    step = error.get("step") or transaction.get("step")
    failure = f"Step '{step}' failed: {error.get('message', 'no reason given')}".rstrip(".") + "."
    node = error.get("node")
    return " ".join([lead, failure, *([node[0].upper() + node[1:]] if node else [])])


def progress_line(host: str, transaction: Mapping[str, Any]) -> str:
    """The progress of a transaction in one line."""
    steps = transaction.get("steps") or []
    done = sum(step["status"] in ("done", "skipped") for step in steps)
    line = f"  {host}: {transaction['state']}, {done} step(s) done, now: {transaction.get('step') or 'starting'}"
    waits = [
        f"{check['check']}: {check['detail']}"
        for check in transaction.get("gate") or []
        if check["status"] in ("waiting", "no answer")
    ]
    return f"{line}, waiting for {'; '.join(waits)}" if waits else line
