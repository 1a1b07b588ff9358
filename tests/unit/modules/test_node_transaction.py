# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module says of a transaction that was never begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.unit.action.in_process import module


def test_waiting_for_what_was_never_begun_says_so(tmp_path: Path) -> None:
    found = module("node_transaction", {"action": "wait", "id": "t-9", "root": str(tmp_path)})
    assert (found["failed"], found["begun"]) == (True, False)


@pytest.mark.parametrize("name", ["../../../../etc", "..", ".", "", "t-9/../t-8", "t-9\n", "a" * 65])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    """A folder that is no transaction's is there, and would be taken for one that is at work."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "var/lib/volcano-colocation/transactions/t-8").mkdir(parents=True)
    (tmp_path / "var/lib/volcano-colocation/transactions/t-9").mkdir()
    found = module("node_transaction", {"action": "wait", "id": name, "wait": 0, "root": str(tmp_path)})
    assert found["failed"] is True
    assert f"id: {name!r} is not the id of a transaction" in found["msg"]
