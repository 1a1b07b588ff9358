# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was undone while a node booted is told by the next run, since nobody was there to be told before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node import action_base as controller
from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import STATE, grow

CHANGE, NEXT = {"cgroup_driver": "systemd"}, {"pod_pids_limit": 5}


@pytest.fixture(name="warned")
def _warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    message: list[str] = []
    monkeypatch.setattr(controller.display, "warning", message.append)
    return message


def undone_at_boot(root: Path, **message: Any) -> str:
    """The id of a transaction, as the unit at boot leaves its journal."""
    assert action("kubelet_config", {"root": str(root), **CHANGE})["changed"]
    (path,) = (root / STATE / "transactions").glob("*/journal.json")
    document = json.loads(path.read_text())
    document.update(
        state="rolled-back", at_boot=True, to_prove=["kubelet.service runs", "3 pods run as before"], **message
    )
    path.write_text(json.dumps(document))
    return str(document["id"])


@pytest.mark.parametrize("state", ["rolled-back", "rollback-failed"])
def test_it_is_told_once_with_what_nobody_has_seen_since(root: Path, warned: list[str], state: str) -> None:
    name = undone_at_boot(root)
    (path,) = (root / STATE / "transactions").glob("*/journal.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "state": state}))
    result = action("kubelet_config", {"root": str(root), **NEXT})
    assert result["changed"], result
    assert warned == [
        f"node: the node went down during transaction {name}, which was undone when it booted ({state});"
        " not proven since: kubelet.service runs, 3 pods run as before"
    ]
    assert action("kubelet_config", {"root": str(root), "pod_pids_limit": 6})["changed"]
    assert len(warned) == 1


def test_where_nothing_is_left_to_be_seen_that_is_said(root: Path, warned: list[str]) -> None:
    undone_at_boot(root)
    (path,) = (root / STATE / "transactions").glob("*/journal.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "to_prove": []}))
    action("kubelet_config", {"root": str(root), **NEXT})
    assert len(warned) == 1
    assert warned[0].endswith("not proven since: nothing")


def test_a_transaction_that_ended_otherwise_is_not_told_of(root: Path, warned: list[str]) -> None:
    for change in (CHANGE, NEXT):
        assert action("kubelet_config", {"root": str(root), **change})["changed"]
    assert warned == []


def test_check_mode_begins_nothing_and_has_nothing_to_tell(root: Path, warned: list[str]) -> None:
    undone_at_boot(root)
    assert action("kubelet_config", {"root": str(root), **NEXT}, check=True)["changed"]
    assert warned == []


def test_it_is_told_by_a_run_that_ends_before_its_transaction(
    root: Path, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may turn read-only, the node go away."""
    undone_at_boot(root)
    module = in_process.module

    def slow(name: str, arguments: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        if name.endswith("node_transaction") and arguments["action"] == "wait":
            return {"failed": True, "msg": "Read-only file system"}
        result = module(name, arguments, **more)
        if name.endswith("node_transaction"):
            result["transaction"]["state"] = "applying"
        return result

    monkeypatch.setattr(in_process, "module", slow)
    assert action("kubelet_config", {"root": str(root), **NEXT})["msg"] == "Read-only file system"
    assert len(warned) == 1
    assert "was undone when it booted" in warned[0]


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return grow(tmp_path / "image", {})
