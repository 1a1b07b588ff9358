# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next run reports a rollback at boot."""

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
    warnings: list[str] = []
    monkeypatch.setattr(controller.display, "warning", warnings.append)
    return warnings


def undone_at_boot(root: Path, **fields: Any) -> str:
    """The ID of a transaction whose journal is that of a rollback at boot."""
    assert action("kubelet_config", {"root": str(root), **CHANGE})["changed"]
    (path,) = (root / STATE / "transactions").glob("*/journal.json")
    document = json.loads(path.read_text())
    document.update(
        state="rolled-back", at_boot=True, to_prove=["kubelet.service runs", "3 pods run as before"], **fields
    )
    path.write_text(json.dumps(document))
    return str(document["id"])


@pytest.mark.parametrize("state", ["rolled-back", "rollback-failed"])
def test_it_is_reported_once_with_unproven_checks(root: Path, warned: list[str], state: str) -> None:
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


def test_a_rollback_without_unproven_checks_is_reported(root: Path, warned: list[str]) -> None:
    undone_at_boot(root)
    (path,) = (root / STATE / "transactions").glob("*/journal.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "to_prove": []}))
    action("kubelet_config", {"root": str(root), **NEXT})
    assert len(warned) == 1
    assert warned[0].endswith("not proven since: nothing")


def test_a_transaction_that_ended_otherwise_is_not_reported(root: Path, warned: list[str]) -> None:
    for change in (CHANGE, NEXT):
        assert action("kubelet_config", {"root": str(root), **change})["changed"]
    assert warned == []


def test_check_mode_begins_nothing_and_has_nothing_to_tell(root: Path, warned: list[str]) -> None:
    undone_at_boot(root)
    assert action("kubelet_config", {"root": str(root), **NEXT}, check=True)["changed"]
    assert warned == []


def test_a_run_that_ends_before_its_transaction_reports_it(
    root: Path, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may become read-only, or the connection may be lost."""
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
