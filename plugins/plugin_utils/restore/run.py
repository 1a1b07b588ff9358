# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carrying a restore out: settings while their cgroups are there, files, then slices, which kubelet may name so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..controller.node import Node, NodeFailure
from ..controller.outcome import failure_message
from .document import restore_document
from .model import QOS, SLICES
from .plan import Restore

UNTOUCHED = ("refused", "rolled-back")

Progress = Callable[[Mapping[str, Any]], None]


def put_back(node: Node, restore: Restore, timeout: int, progress: Progress) -> dict[str, Any]:
    """What the result says beside the plan. The first phase that fails ends it, those before it stay done."""
    done: list[str] = []
    result: dict[str, Any] = {}
    try:
        if QOS in restore.sections:
            node.put_back([QOS], clean=False)
            done.append(QOS)
        if restore.files.edits or restore.files.forget:
            transaction = node.transact(restore_document(restore.files, timeout), progress)
            result["transaction"] = transaction
            if transaction["state"] != "committed":
                touched = transaction["state"] not in UNTOUCHED
                return {**result, **_failed(failure_message(transaction), done, touched=touched)}
            done += dict.fromkeys(each.section for each in restore.files.edits)
        last = [section for section in (SLICES,) if section in restore.sections]
        if last or (restore.clean and restore.changes):
            node.put_back(last, clean=restore.clean)
    except NodeFailure as failure:
        return {**failure.result, **result, **_failed(str(failure), done, touched=False)}
    return result


def check(node: Node, restore: Restore, timeout: int) -> dict[str, Any]:
    """What the result of check mode says beside the plan: why the transaction of the files would be refused."""
    if not restore.files.edits and not restore.files.forget:
        return {}
    transaction = node.check(restore_document(restore.files, timeout))
    if transaction["state"] not in UNTOUCHED:
        return {}
    return {"transaction": transaction, **_failed(failure_message(transaction), (), touched=False)}


def _failed(message: str, done: Sequence[str], *, touched: bool) -> dict[str, Any]:
    """Sections that were put back before stay so, and the next run goes on behind them."""
    if done:
        message = f"{message.rstrip('.')}. Put back before that, and left so: {', '.join(done)}."
    return {"failed": True, "changed": touched or bool(done), "diff": [], "msg": message}
