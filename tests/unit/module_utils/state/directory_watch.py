# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the events of a watched directory with inotify(7), like the watchers of kubelet and NRI."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
NAMES = {
    IN_MODIFY: "modified",
    IN_CLOSE_WRITE: "written",
    IN_MOVED_FROM: "moved away",
    IN_MOVED_TO: "moved in",
    IN_CREATE: "created",
    IN_DELETE: "deleted",
}
EVENT = struct.Struct("iIII")


@contextmanager
def watched(directory: Path) -> Iterator[list[str]]:
    """A list that contains all events of the directory after the block."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert handle >= 0, os.strerror(ctypes.get_errno())
    try:
        assert libc.inotify_add_watch(handle, os.fsencode(directory), sum(NAMES)) >= 0, os.strerror(ctypes.get_errno())
        events: list[str] = []
        yield events
        events += _events(handle)
    finally:
        os.close(handle)


def _events(handle: int) -> Iterator[str]:
    try:
        buffer = os.read(handle, 1 << 16)
    except BlockingIOError:
        return
    while buffer:
        _watch, mask, _cookie, length = EVENT.unpack_from(buffer)
        name = os.fsdecode(buffer[EVENT.size : EVENT.size + length].rstrip(b"\0"))
        actions = " ".join(text for bit, text in NAMES.items() if mask & bit)
        yield f"{name} {actions}"
        buffer = buffer[EVENT.size + length :]
