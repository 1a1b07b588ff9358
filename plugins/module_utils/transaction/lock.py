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
from .files import private_folder, refused
from .store import STATE_FOLDER


class LockHeld(ColocationError):
    """Another transaction is at work on this node."""


@contextmanager
def hold(path: str, holder: str) -> Iterator[None]:
    """Hold the lock file; LockHeld, which names the holder, at once when somebody else has it.

    It is flock(2): the kernel takes it away when its owner dies, so there is never a stale one.
    """
    try:
        private_folder(os.path.dirname(path))
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise refused(error, f"{STATE_FOLDER}/{os.path.basename(path)}", "lock this node for the work") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(handle, 512).decode("utf-8", "replace").strip() or "unknown"
            raise LockHeld(
                f"another transaction is at work on this node: {who}",
                "Wait for its end and run this again. If its process hangs, end it: the next run undoes what it did",
            ) from None
        os.ftruncate(handle, 0)
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        os.pwrite(handle, f"{holder}, pid {os.getpid()}, since {since}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
