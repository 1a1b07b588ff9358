# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words in which a plan and a transaction reach the person who ran them."""

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
        "impact": sorted(need.value for need in change.needs),
    }


def plan_result(plan: Plan) -> dict[str, Any]:
    """The plan as it stands in a result: what changes, what is left pending, what was skipped and why."""
    document: dict[str, Any] = to_builtins(
        {
            "changes": [_change(change) for change in plan.changes],
            "pending": [_change(change) for change in plan.pending],
            "unsupported": [asdict(skip) for skip in plan.skipped],
            "refusals": [asdict(refusal) for refusal in plan.refusals],
            "permission": asdict(plan.permission) if plan.permission else None,
            "impact": sorted(need.value for need in plan.needs),
            "kubelet": {"strategy": plan.strategy, "paths": list(plan.paths)},
        }
    )
    return document


def render_instructions(owners: Iterable[OwnerInstructions]) -> dict[str, Any]:
    """By the name of each owner: its inventory variables, texts for it, and what it does with them."""
    return {each.owner: {"variables": each.variables, "files": each.files, "note": each.note} for each in owners}


def refusal_message(plan: Plan) -> str:
    """Everything that keeps the plan from being applied in one text, one reason a line."""
    reasons = [str(refusal) for refusal in plan.obstacles]
    if len(reasons) == 1:
        return f"Nothing was changed. {reasons[0]}"
    return "\n".join([f"Nothing was changed, for {len(reasons)} reasons:", *(f"- {reason}" for reason in reasons)])


def failure_message(transaction: Mapping[str, Any]) -> str:
    """What a transaction that did not commit says: the step, the cause, and what the node is now."""
    error = transaction.get("error") or {}
    lead = {
        "refused": "Nothing was changed.",
        "rolled-back": "The node was put back as it was.",
        "rollback-failed": "The node could NOT be put back completely; it needs a person now.",
    }.get(transaction["state"], transaction["state"])
    step = error.get("step") or transaction.get("step")
    told = f"Step '{step}' failed: {error.get('message', 'no reason given')}".rstrip(".") + "."
    node = error.get("node")
    return " ".join([lead, told, *([node[0].upper() + node[1:]] if node else [])])


def progress_line(host: str, transaction: Mapping[str, Any]) -> str:
    """Where a transaction is, for the person who watches."""
    steps = transaction.get("steps") or []
    done = sum(step["status"] in ("done", "skipped") for step in steps)
    line = f"  {host}: {transaction['state']}, {done} step(s) done, now: {transaction.get('step') or 'starting'}"
    waits = [
        f"{each['check']}: {each['detail']}"
        for each in transaction.get("gate") or []
        if each["status"] in ("waiting", "no answer")
    ]
    return f"{line}, waiting for {'; '.join(waits)}" if waits else line
