# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives for the kernel's initial file system.

Format "newc": Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Entry:
    """A file owned by root; ``mode`` holds its permissions only."""

    path: str
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


def archive(entries: Iterable[Entry | Link]) -> bytes:
    """A cpio archive with all parent directories. Archives may be concatenated: the kernel unpacks them in order."""
    blocks: list[bytes] = []
    directories: dict[str, bool] = {}
    number = 0
    for entry in entries:
        path = PurePosixPath(entry.path.lstrip("/"))
        for directory in reversed([str(parent) for parent in path.parents if str(parent) != "."]):
            if directory not in directories:
                directories[directory] = True
                number += 1
                blocks.append(_member(number, directory, stat.S_IFDIR | 0o755, b""))
        number += 1
        if isinstance(entry, Link):
            blocks.append(_member(number, str(path), stat.S_IFLNK | 0o777, entry.target.encode()))
        else:
            blocks.append(_member(number, str(path), stat.S_IFREG | entry.mode, entry.content))
    blocks.append(_member(0, "TRAILER!!!", 0, b""))
    return b"".join(blocks)


def _member(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    numbers = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + "".join(f"{value:08X}" for value in numbers).encode()
    return _pad(header + encoded) + _pad(content)


def _pad(block: bytes) -> bytes:
    return block + b"\0" * (-len(block) % 4)
