# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction.lock import LockHeld, hold


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "lock")
    with hold(path, "first"), pytest.raises(LockHeld, match=rf"first, pid {os.getpid()}, since 20\d\d-"), hold(
        path, "second"
    ):
        pass
    with hold(path, "third"):
        assert Path(path).read_text().startswith(f"third, pid {os.getpid()}, since ")
    assert os.stat(path).st_mode & 0o077 == 0


def test_the_lock_dies_with_its_owner(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    child = os.fork()
    if child == 0:
        with hold(path, "child"):
            time.sleep(60)
        os._exit(0)
    limit = time.monotonic() + 10
    while not (os.path.exists(path) and "child" in Path(path).read_text()) and time.monotonic() < limit:
        time.sleep(0.01)
    with pytest.raises(LockHeld, match="child"), hold(path, "parent"):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with hold(path, "parent"):
        assert "parent" in Path(path).read_text()
