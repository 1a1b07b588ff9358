# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module node_ledger on images: what it shows, restores and removes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import unpack
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import module, run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import (
    KUBELET,
    KUBELET_TEXT,
    STATE,
    contents,
    grow,
)

SLICE = "etc/systemd/system/a.slice"
STATE_PATH = f"/{STATE}"


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return grow(tmp_path / "image", {})


def ledger(root: Path, *, check: bool = False, **options: Any) -> dict[str, Any]:
    return module("node_ledger", {"root": str(root), **options}, check=check)


def evidence(root: Path) -> dict[str, Any]:
    result = ledger(root)
    assert (result["changed"], sorted(result)) == (False, ["changed", "evidence", "invocation"])
    evidence: dict[str, Any] = unpack(result["evidence"])
    return evidence


def with_a_slice(root: Path) -> None:
    assert run("systemd_slice", {"root": str(root), "name": "a.slice", "properties": {"CPUWeight": 5}})["changed"]


def with_kubelets_file(root: Path) -> None:
    assert run("kubelet_config", {"root": str(root), "cgroup_driver": "systemd"})["changed"]


def test_a_node_never_touched_shows_nothing_and_is_not_written_to(root: Path) -> None:
    before = contents(root)
    result = evidence(root)
    assert (result["targets"], result["slices"]["slices"], result["removable"], result["snapshot"]) == (
        [],
        [],
        [],
        None,
    )
    assert ledger(root, action="restore", sections=["qos", "slices"], clean=True)["removed"] == []
    assert contents(root) == before


def test_what_can_be_put_back_is_shown_unchanged(root: Path) -> None:
    with_kubelets_file(root)
    with_a_slice(root)
    before = contents(root)
    result = evidence(root)
    (target,) = result["targets"]
    assert (target["path"], target["standing"], target["original"]["text"]) == (
        f"/{KUBELET}",
        "committed",
        KUBELET_TEXT,
    )
    assert "cgroupDriver: systemd" in target["found"]["text"]
    assert (result["unfinished"], result["unsettled"], result["removable"]) == ([], [], [STATE_PATH])
    assert result["slices"]["slices"]
    assert result["snapshot"]["root"] == str(root)
    assert contents(root) == before


def test_check_mode_shows_the_same_and_puts_nothing_back(root: Path) -> None:
    with_a_slice(root)
    before = contents(root)
    result = ledger(root, check=True, action="restore", sections=["slices"], clean=True)
    assert (result["changed"], result["removed"]) == (False, [])
    assert unpack(ledger(root, check=True)["evidence"])["slices"] == evidence(root)["slices"]
    assert contents(root) == before


def test_slices_go_and_a_second_time_nothing_does(root: Path) -> None:
    with_a_slice(root)
    assert (root / SLICE).exists()
    assert ledger(root, action="restore", sections=["qos"])["changed"] is False
    assert (root / SLICE).exists()
    assert ledger(root, action="restore", sections=["slices"])["changed"] is True
    assert not (root / SLICE).exists()
    assert ledger(root, action="restore", sections=["slices"])["changed"] is False


def test_what_is_ours_stays_as_long_as_a_file_is_to_be_put_back(root: Path) -> None:
    with_kubelets_file(root)
    before = contents(root)
    result = ledger(root, action="restore", clean=True)
    assert (result["changed"], result["removed"]) == (False, [])
    assert contents(root) == before


def test_what_is_ours_goes_when_nothing_is_left(root: Path) -> None:
    with_kubelets_file(root)
    with_a_slice(root)
    assert run("node_restore", {"root": str(root), "sections": ["kubelet"]})["changed"]
    assert (root / KUBELET).read_text() == KUBELET_TEXT
    assert ledger(root, action="restore", clean=True)["removed"] == []
    assert ledger(root, action="restore", sections=["slices"])["removed"] == []
    result = ledger(root, action="restore", clean=True)
    assert (result["changed"], result["removed"]) == (True, [STATE_PATH])
    assert not (root / STATE).exists()
    assert ledger(root, action="restore", clean=True)["changed"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"action": "forget"}, "value of action must be one of: show, restore"),
        ({"action": "restore", "sections": ["kubelet"]}, "sections must be one or more of: qos, slices"),
        ({"root": "/none/such"}, "root: '/none/such' is not a directory"),
        ({"bogus": 1}, "Unsupported parameters"),
    ],
)
def test_what_it_does_not_take(root: Path, options: dict[str, Any], message: str) -> None:
    before = contents(root)
    result = module("node_ledger", {"root": str(root), **options})
    assert result["failed"]
    assert message in result["msg"]
    assert contents(root) == before


@pytest.mark.parametrize("options", [{}, {"action": "restore", "clean": True}])
def test_a_damaged_ledger_is_named_with_the_remedy(root: Path, options: dict[str, Any]) -> None:
    with_kubelets_file(root)
    (root / STATE / "ledger.json").write_text("[")
    before = contents(root)
    result = ledger(root, **options)
    assert result["failed"]
    assert f"{STATE_PATH}/ledger.json: it is damaged. The originals are in" in result["msg"]
    assert contents(root) == before
