# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of a transaction that touched nothing."""

from __future__ import annotations

from typing import Any

from .wording import in_words


def refusal(transaction: str, step: str, error: Exception, recovered: dict[str, Any] | None) -> dict[str, Any]:
    """``recovered``: id and end state of an earlier transaction that was undone first."""
    node = "nothing was changed"
    if recovered is not None:
        node = f"the unfinished transaction {recovered['id']} was undone, nothing else was changed"
    return {
        "id": transaction,
        "state": "refused",
        "step": step,
        "steps": [],
        "error": {"step": step, "message": in_words(error), "node": node},
        "gate": [],
        "recovered": recovered,
    }
