# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's lock: one transaction, or one change of settings or slices, at a time.

Who needs qos.lock as well takes that one afterwards. The unit that applies settings again takes it alone: a transaction
that starts kubelet starts that unit too.
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
    """Somebody else is at work on this node; ``holder`` says who, with its pid and since when."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"another transaction is at work on this node: {holder}",
            "Wait for its end and run this again. If its process hangs, end it: the next run undoes what it did",
        )
        self.holder = holder


@contextmanager
def hold(path: str, holder: str, clock: Clock = CLOCK, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock file; LockHeld when somebody else has it for longer than ``patience`` seconds.

    It is flock(2): the kernel takes it away when its owner dies, so there is never a stale one.
    """
    handle = _take(path, clock, patience)
    try:
        os.ftruncate(handle, 0)
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        os.pwrite(handle, f"{holder}, pid {os.getpid()}, since {since}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def require_lockable(path: str) -> None:
    """FileRefused where ``hold`` could not open the lock file; nothing is made or waited for."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _lock_error(error, path) from error


def _lock_error(error: OSError, path: str) -> ColocationError:
    return file_error(error, f"{STATE_DIRECTORY}/{os.path.basename(path)}", "lock this node for the work")


def _take(path: str, clock: Clock, patience: float) -> int:
    deadline = clock.monotonic() + patience
    while True:
        handle = _open(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at_path(handle, path):
                return handle
        except BlockingIOError:
            who = os.read(handle, 512).decode("utf-8", "replace").strip() or "unknown"
            if clock.monotonic() >= deadline:
                os.close(handle)
                raise LockHeld(who) from None
            clock.sleep(PAUSE)
        os.close(handle)


def _open(path: str) -> int:
    try:
        make_private_directory(os.path.dirname(path))
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _lock_error(error, path) from error


def _is_at_path(handle: int, path: str) -> bool:
    """Whether it is still the file of that name: a restore that removes all of ours removes the lock it holds.

    Whoever had opened that before would hold what nobody else sees any more.
    """
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


LOCK_TIMEOUT = 60.0
"""Seconds to wait for others of its kind; a transaction may take longer, and is named then."""


@contextmanager
def node_lock(host: Host, holder: str, clock: Clock = CLOCK) -> Iterator[None]:
    """Nobody else is at work on the node meanwhile; LockHeld, which names who is, after PATIENCE seconds."""
    with hold(Store(host).lock_path, holder, clock, LOCK_TIMEOUT):
        yield


def require_node_lock(host: Host) -> None:
    """FileRefused where ``node_lock`` could not lock the node; nothing is made or waited for."""
    require_lockable(Store(host).lock_path)
    files.probe_write(host, f"{STATE_DIRECTORY}/{PLAN}", b"")
