# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others changed in a file after it was read: never overwritten, and shown as a redacted difference."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils.safe_text import printable
from ..facts.interpreter import SnapshotError
from ..plan.file_edits import FileEdit, captured_files
from ..report.redact import redact_text
from .transport import ConnectionLost, Node, NodeFailure

SHOWN_LINES = 60
"""More is no help at three in the morning."""
HIDDEN_DIFFERENCE = "(what differs is hidden here, because it looks like a secret)"


def redacted_difference(one: str | None, other: str | None, one_name: str, other_name: str) -> str:
    """A unified difference of two texts, None for a file that is not there; empty where they are the same."""
    if one == other:
        return ""
    # Printable first: only newlines are ends of lines then, and a changed carriage return is a change that is shown.
    before, after = (printable(redact_text(text or "")).splitlines() for text in (one, other))
    lines = list(difflib.unified_diff(before, after, one_name, other_name, lineterm=""))
    if not lines and one and other:
        return HIDDEN_DIFFERENCE
    more = [f"({len(lines) - SHOWN_LINES} more lines)"] if len(lines) > SHOWN_LINES else []
    return "\n".join([*lines[:SHOWN_LINES], *more])


UNTOUCHED = ("refused", "rolled-back")
"""After these states every file is as it was, save for what others did."""


def describe(node: Node, edits: Iterable[FileEdit], transaction: Mapping[str, Any]) -> str:
    """For the message of a transaction that did not commit, by a fresh look; empty where nobody interfered."""
    if transaction["state"] not in UNTOUCHED:
        return ""
    try:
        snapshot = node.snapshot()
    except (NodeFailure, ConnectionLost, SnapshotError):
        return ""
    return "".join(f"\n{each}" for each in foreign_differences(edits, snapshot))


def foreign_differences(edits: Iterable[FileEdit], snapshot: Mapping[str, Any]) -> list[str]:
    """A difference for each file that is no longer as it was read."""
    files = captured_files(snapshot)
    found = [
        redacted_difference(
            edit.before, files.get(edit.path, {}).get("text"), f"{edit.path} as it was read", f"{edit.path} now"
        )
        for edit in edits
    ]
    return [each for each in found if each]
