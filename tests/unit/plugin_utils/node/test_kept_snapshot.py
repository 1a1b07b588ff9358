# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot that is kept between check mode and the real run: private, and used once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.snapshot_files import keep_snapshot, take_snapshot
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, captured, put


def kept_file(directory: Path) -> Path:
    (result,) = (path for path in directory.rglob("*") if path.is_file())
    return result


def test_what_is_kept_is_taken_once(tmp_path: Path) -> None:
    identity = keep_snapshot(str(tmp_path), captured(ALIGNED))
    assert take_snapshot(str(tmp_path), identity) == captured(ALIGNED)
    assert take_snapshot(str(tmp_path), identity) is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_bytes_that_are_no_utf8_survive(tmp_path: Path) -> None:
    snapshot = put(captured(ALIGNED), "caf\udce9", "system", "hostname")
    assert take_snapshot(str(tmp_path), keep_snapshot(str(tmp_path), snapshot)) == snapshot


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_nobody_else_can_read_it(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        keep_snapshot(str(tmp_path), {"secret": 1})
    finally:
        os.umask(before)
    path = kept_file(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_several_nodes_keep_theirs_apart(tmp_path: Path) -> None:
    first, second = keep_snapshot(str(tmp_path), {"node": 1}), keep_snapshot(str(tmp_path), {"node": 2})
    assert take_snapshot(str(tmp_path), second) == {"node": 2}
    assert take_snapshot(str(tmp_path), first) == {"node": 1}


@pytest.mark.parametrize("identity", [None, "", "0" * 16, "../../../etc/passwd", "0123456789ABCDEF", "0" * 16 + "\n"])
def test_an_id_that_is_none_gives_nothing(tmp_path: Path, identity: str | None) -> None:
    keep_snapshot(str(tmp_path), {})
    assert take_snapshot(str(tmp_path), identity) is None
