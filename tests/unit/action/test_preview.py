# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode shows the whole change if only the permission to stop pods is missing; the real run is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible import constants

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING, captured
from ansible_collections.volcano.colocation.tests.support.hosts.ledger_reports import (
    NOTHING,
    kubelet_file,
    runtime_file,
)
from ansible_collections.volcano.colocation.tests.support.tasks import in_process

NOW, ORIGINAL = captured(ALIGNED), captured(DIFFERING)
LEDGER = {**NOTHING, "targets": [kubelet_file(NOW, ORIGINAL), runtime_file(NOW, ORIGINAL)], "snapshot": NOW}
OPTIONS: dict[str, dict[str, Any]] = {
    "node_align": {"cgroup_driver": "systemd", "cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}},
    "node_restore": {},
}
NOT_REFUSED = {"state": "none"}
"""How the node's own checks answer."""

ALLOW = "Set allow_disruption to true"


def run(name: str, *, check: bool, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """The result, and the modules that were started on the node."""
    started: list[str] = []

    def recorded(module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        started.append(module.rpartition(".")[2])
        return {"snapshot": pack(ORIGINAL), "evidence": pack(LEDGER), "transaction": NOT_REFUSED}

    return in_process.action(name, {**OPTIONS[name], **options}, check=check, recorded=recorded), started


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


def permission(name: str, result: Mapping[str, Any]) -> Any:
    return (result["plan"] if name == "node_align" else result)["permission"]


@pytest.mark.parametrize("name", OPTIONS)
def test_check_mode_shows_what_the_real_run_does_once_it_is_allowed(name: str) -> None:
    preview, started = run(name, check=True)
    allowed, _started = run(name, check=True, allow_disruption=True)
    assert "failed" not in preview
    assert preview["changed"] is True
    assert preview["diff"] == allowed["diff"] != []
    assert ALLOW in permission(name, preview)["remedy"]
    assert ALLOW in preview["msg"]
    assert permission(name, allowed) is None
    assert started[1:] == ["node_transaction"]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_real_run_is_refused_and_changes_nothing(name: str) -> None:
    result, started = run(name, check=False)
    assert (result["failed"], result["changed"], result["diff"]) == (True, False, [])
    assert result["msg"].startswith("Nothing was changed. ")
    assert ALLOW in result["msg"]
    assert len(started) == 1


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_not_allowed_is_no_preview(name: str) -> None:
    result, _started = run(name, check=True, allow_disruption=False)
    assert "failed" not in result
    assert permission(name, result) is None
