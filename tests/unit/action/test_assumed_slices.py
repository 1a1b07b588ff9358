# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_align before and after the slices of reservations are created: assumed slices count only for the plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible import constants

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import Snapshot
from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.test_field_refusals import (
    EVERYTHING,
    ROOT,
    node,
    with_slice,
)

PROFILE: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "enforce_node_allocatable": ["pods", "kube-reserved"],
    "kube_reserved_cgroup": "/runtime.slice",
    "kube_reserved": {"cpu": "500m"},
    "allow_disruption": True,
    "assume_slices": True,
}
LACKING = with_slice(node("1.30.14"), [], path="runtime.slice")
FREE = {"id": "t", "state": "none"}
MADE = with_slice(node("1.30.14"), [ROOT], EVERYTHING, "runtime.slice")


def align(
    snapshot: Snapshot, *, check: bool = False, checked: Mapping[str, Any] | None = None, **options: Any
) -> tuple[dict[str, Any], list[str]]:
    """The result, and the modules that were started on the node."""
    started: list[str] = []

    def recorded(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        started.append(name.rpartition(".")[2])
        if arguments.get("action") == "check":
            return {"transaction": checked or FREE}
        if name.endswith("node_transaction"):
            return {"failed": True, "msg": "the transaction would begin"}
        return {"snapshot": pack(snapshot)}

    return in_process.action("node_align", {**PROFILE, **options}, check=check, recorded=recorded), started


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


def test_in_check_mode_the_plan_takes_the_slices_for_there() -> None:
    result, started = align(LACKING, check=True)
    assert result["plan"]["refusals"] == []
    assert result["assumptions"] == {"slices": ["runtime.slice"], "cgroup_driver": "systemd"}
    assert result["observation"]
    assert started == ["node_snapshot", "node_transaction"]
    without, _started = align(LACKING, check=True, assume_slices=False)
    assert [refusal["code"] for refusal in without["plan"]["refusals"]] == ["reserved-cgroup-missing"]
    assert "assumptions" not in without


def test_kubelet_is_configured_once_the_slice_exists() -> None:
    observed, _started = align(LACKING, check=True)
    result, started = align(MADE, observation=observed["observation"])
    assert started == ["node_snapshot", "node_transaction"]
    assert result["msg"] == "the transaction would begin"


def test_a_slice_that_was_not_created_stops_it_before_kubelet_is_configured() -> None:
    observed, _started = align(LACKING, check=True)
    result, started = align(LACKING, observation=observed["observation"])
    assert started == ["node_snapshot"]
    assert result["failed"]
    assert "runtime.slice is missing" in result["msg"]


def test_where_it_was_there_nobody_looks_again() -> None:
    observed, _started = align(MADE, check=True)
    assert observed["assumptions"]["slices"] == []
    _result, started = align(MADE, observation=observed["observation"])
    assert started == ["node_transaction"]


def test_check_mode_fails_where_the_transaction_would_be_refused() -> None:
    error = {"step": "check the node", "message": "/etc/x: its file system is full", "node": "nothing was changed"}
    result, started = align(MADE, check=True, checked={"id": "t", "state": "refused", "error": error})
    assert (result["failed"], result["changed"], result["diff"]) == (True, False, [])
    assert result["msg"].startswith(
        "Nothing was changed. Step 'check the node' failed: /etc/x: its file system is full"
    )
    assert started[:2] == ["node_snapshot", "node_transaction"]


def test_a_first_look_leaves_the_checks_to_the_transaction() -> None:
    result, started = align(MADE, check=True, preflight=False)
    assert (started, bool(result["observation"])) == (["node_snapshot"], True)
