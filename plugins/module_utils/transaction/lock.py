# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One transaction at a time on a node."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import Iterator

from ..errors import ColocationError
from .clock import Clock
from .files import private_folder, refused
from .store import STATE_FOLDER

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
    handle = _taken(path, clock, patience)
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
        raise _not_lockable(error, path) from error


def _not_lockable(error: OSError, path: str) -> ColocationError:
    return refused(error, f"{STATE_FOLDER}/{os.path.basename(path)}", "lock this node for the work")


def _taken(path: str, clock: Clock, patience: float) -> int:
    deadline = clock.monotonic() + patience
    while True:
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _lies_at(handle, path):
                return handle
        except BlockingIOError:
            who = os.read(handle, 512).decode("utf-8", "replace").strip() or "unknown"
            if clock.monotonic() >= deadline:
                os.close(handle)
                raise LockHeld(who) from None
            clock.sleep(PAUSE)
        os.close(handle)


def _opened(path: str) -> int:
    try:
        private_folder(os.path.dirname(path))
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _not_lockable(error, path) from error


def _lies_at(handle: int, path: str) -> bool:
    """Whether it is still the file of that name: a restore that removes all of ours removes the lock it holds.

    Whoever had opened that before would hold what nobody else sees any more.
    """
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
