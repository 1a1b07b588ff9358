# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import node_lock
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock


def test_a_held_lock_is_refused_to_a_second_holder_by_name(tmp_path: Path) -> None:
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


def test_one_that_is_about_to_let_go_is_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first = hold(path, "first")
    first.__enter__()

    class Clock(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.now > 1001:
                first.__exit__(None, None, None)

    clock = Clock()
    with hold(path, "second", clock, timeout=5.0):
        assert 1001 < clock.now < 1002


def test_one_that_does_not_let_go_is_named_when_the_time_is_over(tmp_path: Path) -> None:
    path, clock = str(tmp_path / "lock"), FakeClock()
    with hold(path, "first"), pytest.raises(LockHeld) as raised, hold(path, "second", clock, timeout=5.0):
        pass
    assert raised.value.holder.startswith(f"first, pid {os.getpid()}, since ")
    assert 1005 <= clock.now < 1006


class Slow:
    """A process that has opened the lock file and comes to lock it only when it is told to."""

    def __init__(self, path: str) -> None:
        opened, self._tell_opened = os.pipe()
        self._wait_told, told = os.pipe()
        held, self._tell_held = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(path)
        for handle in (self._tell_opened, self._wait_told, self._tell_held):
            os.close(handle)
        self._told, self._held = told, held
        assert os.read(opened, 1) == b"o"
        os.close(opened)

    def goes_on(self) -> None:
        """It holds what it takes for the lock when this returns."""
        os.write(self._told, b"g")
        assert os.read(self._held, 1) == b"h"

    def _run(self, path: str) -> None:
        flock, calls = fcntl.flock, []

        def late(handle: int, operation: int) -> None:
            calls.append(handle)
            if len(calls) == 1:
                os.write(self._tell_opened, b"o")
                os.read(self._wait_told, 1)
            flock(handle, operation)

        node_lock.fcntl.flock = late  # type: ignore[attr-defined]
        try:
            with hold(path, "the slow one"):
                os.write(self._tell_held, b"h")
                time.sleep(60)
        finally:
            os._exit(1)


@contextmanager
def slow(path: str) -> Iterator[Slow]:
    process = Slow(path)
    try:
        yield process
    finally:
        os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_lock_that_was_removed_is_nobodys(tmp_path: Path, comes_back: bool) -> None:
    """A restore removes the lock that it holds: who had opened that has to take the one that comes after it."""
    path = str(tmp_path / "state" / "lock")
    with slow(path) as other:
        with hold(path, "restore"):
            os.unlink(path)
            os.rmdir(os.path.dirname(path))
        if comes_back:
            with hold(path, "somebody"):
                pass
        other.goes_on()
        with pytest.raises(LockHeld, match=f"the slow one, pid {other.pid}, "), hold(path, "a third"):
            pass
