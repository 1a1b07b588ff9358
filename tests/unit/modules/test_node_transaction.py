# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module says of a transaction that was never begun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import module


def test_waiting_for_what_was_never_begun_says_so(tmp_path: Path) -> None:
    result = module("node_transaction", {"action": "wait", "id": "t-9", "root": str(tmp_path)})
    assert (result["failed"], result["begun"]) == (True, False)


@pytest.mark.parametrize("name", ["../../../../etc", "..", ".", "", "t-9/../t-8", "t-9\n", "a" * 65])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    """An existing directory that does not belong to a transaction could be mistaken for a running one."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "var/lib/volcano-colocation/transactions/t-8").mkdir(parents=True)
    (tmp_path / "var/lib/volcano-colocation/transactions/t-9").mkdir()
    output = module("node_transaction", {"action": "wait", "id": name, "wait": 0, "root": str(tmp_path)})
    assert output["failed"] is True
    assert f"id: {name!r} is not a transaction id" in output["msg"]


def document(**file: Any) -> str:
    entry = {"path": "/etc/app.conf", "before_sha256": None, "after": "new\n", "mode": "0644", **file}
    return json.dumps({"schema": 1, "id": "t-1", "summary": [], "files": [entry]})


@pytest.mark.parametrize("check", [False, True])
def test_a_look_at_a_plan_changes_nothing(tmp_path: Path, check: bool) -> None:
    (tmp_path / "etc").mkdir()
    arguments = {"action": "check", "plan": document(), "root": str(tmp_path)}
    result = module("node_transaction", arguments, check=check)
    assert (result["changed"], result["transaction"]) == (False, {"id": "t-1", "state": "none"})
    assert [path.name for path in tmp_path.rglob("*")] == ["etc"]


@pytest.mark.parametrize(
    ("state_directory", "file", "step", "reason"),
    [
        ("var/lib", {"before_sha256": "0" * 64}, "check the node", "no longer exists"),
        ("var/lib", {"path": "/var/lib/x/app.conf"}, "check the node", "/var/lib/x is not a directory"),
        ("var", {}, "begin", "cannot store a transaction there: Not a directory"),
    ],
)
def test_a_look_refuses_what_the_transaction_would(
    tmp_path: Path, state_directory: str, file: dict[str, Any], step: str, reason: str
) -> None:
    (tmp_path / state_directory).mkdir(parents=True)
    (tmp_path / state_directory / ("x" if state_directory == "var/lib" else "lib")).write_text("a file")
    for action in ("check", "start"):
        arguments = {"action": action, "plan": document(**file), "root": str(tmp_path)}
        result = module("node_transaction", arguments)["transaction"]
        assert (result["state"], result["error"]["step"]) == ("refused", step)
        assert action == "start" or reason in result["error"]["message"]
