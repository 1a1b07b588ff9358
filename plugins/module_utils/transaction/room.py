# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the node's disks have room for a transaction: told with numbers, before anything is touched."""

from __future__ import annotations

import os

from ..errors import ColocationError
from ..host import Host
from .files import missing_folders
from .plan import Plan
from .store import STATE_FOLDER

PER_FILE = 1 << 16
"""Bytes beside the text itself: blocks, and the journal, which is written anew before it replaces the old one."""


class NoRoom(ColocationError):
    """A file system that is full, or cannot be written."""


def require(host: Host, plan: Plan) -> None:
    """NoRoom for the first file system on which texts and originals do not fit; a text stands beside its original."""
    needed: dict[str, int] = {}
    for edit in plan.files:
        _add(needed, edit.path, len(edit.after or b"") + PER_FILE)
    originals = [*(edit.path for edit in plan.files), *plan.checkpoints]
    _add(needed, f"{STATE_FOLDER}/any", sum(_size(host, path) + PER_FILE for path in originals))
    disks: dict[int, int] = {}
    for folder, size in needed.items():
        there = host.real_path(_existing(host, folder))
        disk = os.stat(there).st_dev
        disks[disk] = disks.get(disk, 0) + size
        require_free(there, folder, disks[disk])


def require_free(there: str, folder: str, size: int) -> None:
    """NoRoom unless the file system at ``there``, the node's ``folder``, takes that many bytes more from root."""
    found = os.statvfs(there)
    if found.f_flag & os.ST_RDONLY:
        raise NoRoom("its file system is mounted read-only", "Remount it read-write, or leave this node out", folder)
    free = found.f_bfree * found.f_frsize
    if found.f_blocks and free < size:
        raise NoRoom(
            f"its file system is full: {size} bytes are needed and {free} are free, {size - free} too few",
            "Free some space there",
            folder,
        )
    # 0 of 0: a file system without a table of them, such as btrfs.
    if found.f_files and not found.f_ffree:
        raise NoRoom("its file system has no inode left for another file", "Remove some files there", folder)


def _add(needed: dict[str, int], path: str, size: int) -> None:
    folder = os.path.dirname(path)
    needed[folder] = needed.get(folder, 0) + size


def _existing(host: Host, folder: str) -> str:
    """The folder, or the lowest one above it that is there."""
    missing = missing_folders(host, f"{folder}/any")
    return os.path.dirname(missing[0]) if missing else folder


def _size(host: Host, path: str) -> int:
    try:
        return host.lstat(path).st_size
    except OSError:
        return 0
