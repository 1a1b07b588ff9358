# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder as a value: every path with its kind, mode, owner and content."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Dict, NamedTuple

from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY

IN_MEMORY = ("/proc", "/run")
"""What programs keep there is told by the state of the services."""
LOG_OF_A_JOURNAL = ("steps", "error", "gate")
"""Told to people, and nothing that a recovery goes by."""
LOCKS = (f"{STATE_DIRECTORY}/lock", f"{STATE_DIRECTORY}/qos.lock")
"""They say since when they are held."""


class Entry(NamedTuple):
    """One thing in the node's tree."""

    mode: int
    owner: tuple[int, int]
    content: bytes


Tree = Dict[str, Entry]
"""By the path below the root."""

READ_ONLY = os.O_RDONLY | os.O_CLOEXEC
_open, _read, _close = os.open, os.read, os.close
"""Of the system itself: in a test they may be watched."""

FOLDER = Entry(stat.S_IFDIR | 0o755, (os.geteuid(), os.getegid()), b"")


def entry(path: str) -> Entry | None:
    """What lies there, None when nothing does."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    content = b""
    if stat.S_ISREG(found.st_mode):
        content = _content(path, found.st_size)
    elif stat.S_ISLNK(found.st_mode):
        content = os.fsencode(os.readlink(path))
    return Entry(found.st_mode, (found.st_uid, found.st_gid), content)


def _content(path: str, size: int) -> bytes:
    """A file in one piece: thousands of them are read, and a stream for each takes longer."""
    handle = _open(path, READ_ONLY)
    try:
        found = _read(handle, size + 1)
    finally:
        _close(handle)
    assert len(found) == size, path
    return found


def tree_of(root: Path) -> Tree:
    """Everything below the root."""
    start = str(root)
    found: Tree = {}
    folders = [start]
    while folders:
        for each in os.scandir(folders.pop()):
            kept = entry(each.path)
            assert kept is not None
            found[each.path[len(start) :]] = kept
            if stat.S_ISDIR(kept.mode):
                folders.append(each.path)
    return found


def unpack(tree: Tree, root: Path) -> None:
    """Make it again in an empty folder."""
    for path in sorted(tree):
        kept, target = tree[path], f"{root}{path}"
        if stat.S_ISLNK(kept.mode):
            os.symlink(os.fsdecode(kept.content), target)
            continue
        if stat.S_ISDIR(kept.mode):
            os.mkdir(target)
        else:
            with open(target, "wb", buffering=0) as stream:
                stream.write(kept.content)
        os.chmod(target, stat.S_IMODE(kept.mode))
        if kept.owner != FOLDER.owner:
            os.chown(target, *kept.owner)


def hash_of(tree: Tree) -> int:
    """The same for trees that no recovery can tell apart."""
    found = 0
    for path, kept in tree.items():
        found ^= part_of(path, kept)
    return found


def part_of(path: str, kept: Entry) -> int:
    """What one entry gives to ``hash_of``: independent of the others, so that one change can be put in alone."""
    if path.startswith(IN_MEMORY) or path in LOCKS:
        return 0
    return hash((path, kept.mode, kept.owner, _decisive(path, kept.content)))


_DECISIVE: dict[bytes, bytes] = {}


def _decisive(path: str, content: bytes) -> bytes:
    if not path.startswith(STATE_DIRECTORY):
        return content
    name = os.path.basename(path)
    if name.startswith("."):
        # A document before its rename. Nobody reads it, and the next one of its name removes it first.
        return b""
    if name not in ("journal.json", "result.json") or not content:
        return content
    if content not in _DECISIVE:
        document = json.loads(content.decode())
        kept = {key: value for key, value in document.items() if key not in LOG_OF_A_JOURNAL}
        _DECISIVE[content] = json.dumps(kept, sort_keys=True).encode()
    return _DECISIVE[content]
