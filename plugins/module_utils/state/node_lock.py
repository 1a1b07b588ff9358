# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's lock: one transaction, or one change of settings or slices, at a time.

A process that also needs qos.lock acquires qos.lock second. The unit that applies settings again acquires only
qos.lock, because a transaction that starts kubelet also starts that unit.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import Iterator

from ..errors import ColocationError
from ..host import Clock, Host
from . import files
from .files import file_error, make_private_directory
from .store import PLAN, STATE_DIRECTORY, Store

PAUSE = 0.2
CLOCK = Clock()


class LockHeld(ColocationError):
    """Another process holds the lock; ``holder`` names it, with its pid and start time."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"another transaction is running on this node: {holder}",
            "Wait until it ends and run this again. If its process hangs, kill it: the next run rolls back its changes",
        )
        self.holder = holder


@contextmanager
def hold(path: str, holder: str, clock: Clock = CLOCK, timeout: float = 0.0) -> Iterator[None]:
    """Hold the lock file; LockHeld if another process holds it for longer than ``timeout`` seconds.

    The lock is flock(2): the kernel releases it when its owner dies, so a lock is never stale.
    """
    handle = _take(path, clock, timeout)
    try:
        os.ftruncate(handle, 0)
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        os.pwrite(handle, f"{holder}, pid {os.getpid()}, since {since}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def require_lockable(path: str) -> None:
    """FileRefused if ``hold`` could not open the lock file; nothing is created, and it does not wait."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _lock_error(error, path) from error


def _lock_error(error: OSError, path: str) -> ColocationError:
    return file_error(error, f"{STATE_DIRECTORY}/{os.path.basename(path)}", "lock this node")


def _take(path: str, clock: Clock, timeout: float) -> int:
    deadline = clock.monotonic() + timeout
    while True:
        handle = _open(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at_path(handle, path):
                return handle
        except BlockingIOError:
            owner = os.read(handle, 512).decode("utf-8", "replace").strip() or "unknown"
            if clock.monotonic() >= deadline:
                os.close(handle)
                raise LockHeld(owner) from None
            clock.sleep(PAUSE)
        os.close(handle)


def _open(path: str) -> int:
    try:
        make_private_directory(os.path.dirname(path))
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _lock_error(error, path) from error


def _is_at_path(handle: int, path: str) -> bool:
    """Whether the path still names the opened file: a complete restore removes the lock file that it holds.

    A process that opened the file before would otherwise hold a lock that no other process can see.
    """
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


LOCK_TIMEOUT = 60.0
"""Seconds to wait for another short change; a transaction may take longer, and the error then names it."""


@contextmanager
def node_lock(host: Host, holder: str, clock: Clock = CLOCK) -> Iterator[None]:
    """Hold the node's lock; LockHeld, which names the other process, after LOCK_TIMEOUT seconds."""
    with hold(Store(host).lock_path, holder, clock, LOCK_TIMEOUT):
        yield


def require_node_lock(host: Host) -> None:
    """FileRefused if ``node_lock`` could not lock the node; nothing is created, and it does not wait."""
    require_lockable(Store(host).lock_path)
    files.probe_write(host, f"{STATE_DIRECTORY}/{PLAN}", b"")
