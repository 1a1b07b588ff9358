# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems without unnamed files (O_TMPFILE), and directories on another file system than their parent.

The process is killed, or power is cut, at every call that changes something: no file with a dot-name remains.
"""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import Bench, Ends, no_disk
from ansible_collections.volcano.colocation.tests.support.node.power_cut_disk import Disk
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction import test_kills, test_power_cuts
from ansible_collections.volcano.colocation.tests.unit.module_utils.transaction.test_power_cuts import files_alone

pytestmark = pytest.mark.exhaustive


def without_unnamed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail like open(2) on overlayfs before Linux 6.1, NFS, or vfat."""
    known = os.open

    def refusing(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), path)
        return known(path, flags, *arguments, **named)

    monkeypatch.setattr(os, "open", refusing)


def with_a_mount_at_each_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Renames from another directory fail."""
    known = os.replace

    def refusing(source: str, target: str, *arguments: Any, **named: Any) -> None:
        if os.path.dirname(source) != os.path.dirname(target):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source, None, target)
        known(source, target, *arguments, **named)

    monkeypatch.setattr(os, "replace", refusing)


@pytest.fixture(params=["no unnamed files", "and mounts"], autouse=True)
def _file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    without_unnamed_files(monkeypatch)
    if request.param == "and mounts":
        with_a_mount_at_each_directory(monkeypatch)


def ends(bench: Bench) -> Ends:
    """Files outside the state directory; services do not change them."""
    after = bench.misaligned()
    files_alone(after)
    return Ends(bench.misaligned(), after)


def test_undone_after_any_kill(bench: Bench) -> None:
    moments = bench.moments(bench.misaligned(), files_alone, no_disk)
    assert bench.recover_all(moments, test_kills.undo, ends(bench).check) > 100


def test_files_end_as_before_or_as_planned_after_every_power_cut(bench: Bench) -> None:
    after = bench.misaligned()
    files_alone(after)
    both = Ends(bench.misaligned(), test_power_cuts.booted(bench, after))
    moments = bench.moments(bench.misaligned(), files_alone, Disk)
    assert test_power_cuts.boot_all(bench, moments, both, both.check) > 50
