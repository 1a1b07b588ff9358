# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of other processes to a file after it was read: never overwritten, and shown as a redacted diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils.safe_text import printable
from ..facts.interpreter import SnapshotError
from ..plan.file_edits import FileEdit, captured_files
from ..report.redact import redact_text
from .transport import ConnectionLost, Node, NodeFailure

LINE_LIMIT = 60
"""Lines of a diff that are shown."""
HIDDEN_DIFFERENCE = "(what differs is hidden here, because it looks like a secret)"


def redacted_difference(one: str | None, other: str | None, one_name: str, other_name: str) -> str:
    """A unified diff of two texts (None: no file); empty if they are equal."""
    if one == other:
        return ""
    # Escape first: then only newlines end a line, and a changed carriage return is visible in the diff.
    before, after = (printable(redact_text(text or "")).splitlines() for text in (one, other))
    lines = list(difflib.unified_diff(before, after, one_name, other_name, lineterm=""))
    if not lines and one and other:
        return HIDDEN_DIFFERENCE
    more = [f"({len(lines) - LINE_LIMIT} more lines)"] if len(lines) > LINE_LIMIT else []
    return "\n".join([*lines[:LINE_LIMIT], *more])


UNTOUCHED = ("refused", "rolled-back")
"""After these states the files are unchanged, except for changes of other processes."""


def describe(node: Node, edits: Iterable[FileEdit], transaction: Mapping[str, Any]) -> str:
    """Diffs for the message of a failed transaction, from a new snapshot; empty without changes of other processes."""
    if transaction["state"] not in UNTOUCHED:
        return ""
    try:
        snapshot = node.snapshot()
    except (NodeFailure, ConnectionLost, SnapshotError):
        return ""
    return "".join(f"\n{difference}" for difference in foreign_differences(edits, snapshot))


def foreign_differences(edits: Iterable[FileEdit], snapshot: Mapping[str, Any]) -> list[str]:
    """A diff for each file that has changed since it was read."""
    files = captured_files(snapshot)
    differences = [
        redacted_difference(
            edit.before, files.get(edit.path, {}).get("text"), f"{edit.path} as it was read", f"{edit.path} now"
        )
        for edit in edits
    ]
    return [difference for difference in differences if difference]
