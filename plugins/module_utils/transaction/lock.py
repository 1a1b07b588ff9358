# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One transaction at a time on a node."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import Iterator

from ..errors import ColocationError
from .files import private_folder


class LockHeld(ColocationError):
    """Another transaction is at work on this node."""


@contextmanager
def hold(path: str, holder: str) -> Iterator[None]:
    """Hold the lock file; LockHeld at once when somebody else has it.

    It is flock(2): the kernel takes it away when its owner dies, so there is never a stale one.
    """
    private_folder(os.path.dirname(path))
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(handle, 256).decode("utf-8", "replace").strip() or "unknown"
            raise LockHeld(
                f"another transaction is at work on this node: {who}",
                "Wait for its end and run this again",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, (f"{holder} (pid {os.getpid()})\n").encode(), 0)
        yield
    finally:
        os.close(handle)
