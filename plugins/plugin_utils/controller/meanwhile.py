# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else changed after a plan was made: nothing of it was overwritten, and the person is shown it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..difference import difference
from ..facts.node import SnapshotError
from ..plan.edits import FileEdit, captured_files
from .node import ConnectionLost, Node, NodeFailure

UNTOUCHED = ("refused", "rolled-back")
"""After these states every file is as it was, save for what others did."""


def told(node: Node, edits: Iterable[FileEdit], transaction: Mapping[str, Any]) -> str:
    """For the message of a transaction that did not commit, by a fresh look; empty where nobody interfered."""
    if transaction["state"] not in UNTOUCHED:
        return ""
    try:
        snapshot = node.snapshot()
    except (NodeFailure, ConnectionLost, SnapshotError):
        return ""
    return "".join(f"\n{each}" for each in foreign(edits, snapshot))


def foreign(edits: Iterable[FileEdit], snapshot: Mapping[str, Any]) -> list[str]:
    """A difference for each file that is no longer as it was read."""
    files = captured_files(snapshot)
    found = [
        difference(edit.before, files.get(edit.path, {}).get("text"), f"{edit.path} as it was read", f"{edit.path} now")
        for edit in edits
    ]
    return [each for each in found if each]
