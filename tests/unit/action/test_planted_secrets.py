# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secret in a node's files: where it is kept during a change and a restore, and that no other file has it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import module, run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, KUBELET_TEXT, STATE, grow

PLANTED = "hunter2-Zm9v"
COPIES = ("originals", "backups")
"""Directories of previous texts, which must contain the secret so that they can be restored."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "image", {})


def saved(root: Path) -> dict[str, Path]:
    """All files of the state directory by name."""
    return {str(path.relative_to(root / STATE)): path for path in (root / STATE).rglob("*") if path.is_file()}


def texts(root: Path) -> dict[str, bytes]:
    """The contents of all files except the lock, which names its last holder."""
    return {name: path.read_bytes() for name, path in saved(root).items() if name != "lock"}


def changed(root: Path) -> Any:
    result = run("kubelet_config", {"root": str(root), "cgroup_driver": "systemd"})
    assert result["changed"], result
    return result


def cut_off(root: Path) -> None:
    """Simulate an engine that was killed after its last step."""
    for path in (root / STATE / "transactions").glob("*/journal.json"):
        journal = json.loads(path.read_text())
        path.write_text(json.dumps({**journal, "state": "applying", "entered": False}))
        (path.parent / "result.json").unlink()


def holding(root: Path) -> set[str]:
    return {name for name, path in saved(root).items() if PLANTED in path.read_text(errors="replace")}


def test_only_copies_hold_it_and_only_root_reads_them(root: Path) -> None:
    assert PLANTED not in json.dumps(changed(root))
    holders = holding(root)
    assert holders
    assert all(any(directory in Path(name).parts for directory in COPIES) for name in holders)
    assert {"ledger.json", "lock"} <= set(saved(root))
    for path in (root / STATE, *(root / STATE).rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_restore_shows_the_difference_without_it_and_leaves_none(root: Path) -> None:
    changed(root)
    result = run("node_restore", {"root": str(root)})
    assert "cgroupDriver: systemd" in json.dumps(result["diff"])
    assert PLANTED not in json.dumps(result)
    assert not (root / STATE).exists()


def test_a_conflict_is_shown_without_it(root: Path) -> None:
    changed(root)
    (root / KUBELET).write_text(KUBELET_TEXT + f"registryToken: {PLANTED}\n")
    result = run("node_restore", {"root": str(root)})
    assert result["failed"]
    assert "registryToken" in result["msg"]
    assert PLANTED not in json.dumps(result)


@pytest.mark.parametrize("way", ["undo", "stop"])
def test_an_interrupted_transaction_is_reported_without_it(root: Path, way: str) -> None:
    changed(root)
    cut_off(root)
    result = run("kubelet_config", {"root": str(root), "recover": way, "pod_pids_limit": 5})
    assert bool(result.get("failed")) is (way == "stop")
    assert PLANTED not in json.dumps(result)
    assert all(any(directory in Path(name).parts for directory in COPIES) for name in holding(root))


def test_in_check_mode_what_is_to_stop_stops(root: Path) -> None:
    changed(root)
    cut_off(root)
    before = texts(root)
    result = run("kubelet_config", {"root": str(root), "recover": "stop", "pod_pids_limit": 5}, check=True)
    assert result["failed"]
    assert "it is unchanged" in result["msg"]
    assert "recover=undo" in result["msg"]
    assert texts(root) == before


def test_the_nodes_log_gets_no_plan(root: Path) -> None:
    log: list[str] = []
    plan = {"schema": 1, "id": "t-1", "files": [{"path": "/etc/x", "before_sha256": None, "after": PLANTED}]}
    module("node_transaction", {"root": str(root), "plan": json.dumps(plan)}, log=log)
    assert (root / "etc/x").read_text() == PLANTED
    assert any("NOT_LOGGING_PARAMETER" in line for line in log)
    assert PLANTED not in "".join(log)


def test_a_state_directory_that_others_could_read_is_closed(root: Path) -> None:
    (root / STATE).mkdir(parents=True, mode=0o755)
    changed(root)
    assert stat.S_IMODE((root / STATE).stat().st_mode) == 0o700
