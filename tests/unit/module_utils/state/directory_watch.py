# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody who watches a directory gets to see: inotify(7), as kubelet's and NRI's watchers use it."""

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
    IN_MOVED_TO: "moved here",
    IN_CREATE: "created",
    IN_DELETE: "deleted",
}
EVENT = struct.Struct("iIII")


@contextmanager
def watched(directory: Path) -> Iterator[list[str]]:
    """A list that at the end of the block holds everything that could be seen in the directory."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert handle >= 0, os.strerror(ctypes.get_errno())
    try:
        assert libc.inotify_add_watch(handle, os.fsencode(directory), sum(NAMES)) >= 0, os.strerror(ctypes.get_errno())
        seen: list[str] = []
        yield seen
        seen += _events(handle)
    finally:
        os.close(handle)


def _events(handle: int) -> Iterator[str]:
    try:
        found = os.read(handle, 1 << 16)
    except BlockingIOError:
        return
    while found:
        _watch, mask, _cookie, length = EVENT.unpack_from(found)
        name = os.fsdecode(found[EVENT.size : EVENT.size + length].rstrip(b"\0"))
        what = " ".join(text for bit, text in NAMES.items() if mask & bit)
        yield f"{name} {what}"
        found = found[EVENT.size + length :]
