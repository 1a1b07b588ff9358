# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module says of a transaction that was never begun."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.unit.action.in_process import module


def test_waiting_for_what_was_never_begun_says_so(tmp_path: Path) -> None:
    found = module("node_transaction", {"action": "wait", "id": "t-9", "root": str(tmp_path)})
    assert (found["failed"], found["begun"]) == (True, False)
