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


def test_the_lock_is_released_when_its_owner_dies(tmp_path: Path) -> None:
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


def test_a_lock_that_is_released_in_time_is_waited_for(tmp_path: Path) -> None:
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


def test_the_holder_is_named_after_the_timeout(tmp_path: Path) -> None:
    path, clock = str(tmp_path / "lock"), FakeClock()
    with hold(path, "first"), pytest.raises(LockHeld) as raised, hold(path, "second", clock, timeout=5.0):
        pass
    assert raised.value.holder.startswith(f"first, pid {os.getpid()}, since ")
    assert 1005 <= clock.now < 1006


class Slow:
    """A process that opens the lock file, and locks it only after a signal on a pipe."""

    def __init__(self, path: str) -> None:
        opened, self._opened_writer = os.pipe()
        self._continue_reader, continue_writer = os.pipe()
        locked, self._locked_writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(path)
        for handle in (self._opened_writer, self._continue_reader, self._locked_writer):
            os.close(handle)
        self._continue_writer, self._locked_reader = continue_writer, locked
        assert os.read(opened, 1) == b"o"
        os.close(opened)

    def lock(self) -> None:
        """Let it lock the opened file; returns after it has the lock."""
        os.write(self._continue_writer, b"g")
        assert os.read(self._locked_reader, 1) == b"h"

    def _run(self, path: str) -> None:
        flock, calls = fcntl.flock, []

        def late(handle: int, operation: int) -> None:
            calls.append(handle)
            if len(calls) == 1:
                os.write(self._opened_writer, b"o")
                os.read(self._continue_reader, 1)
            flock(handle, operation)

        node_lock.fcntl.flock = late  # type: ignore[attr-defined]
        try:
            with hold(path, "the slow one"):
                os.write(self._locked_writer, b"h")
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


@pytest.mark.parametrize("created_again", [False, True])
def test_a_removed_lock_has_no_effect(tmp_path: Path, created_again: bool) -> None:
    """A restore removes the lock file that it holds: a process that had opened it must open the new one."""
    path = str(tmp_path / "state" / "lock")
    with slow(path) as other:
        with hold(path, "restore"):
            os.unlink(path)
            os.rmdir(os.path.dirname(path))
        if created_again:
            with hold(path, "another process"):
                pass
        other.lock()
        with pytest.raises(LockHeld, match=f"the slow one, pid {other.pid}, "), hold(path, "a third"):
            pass
