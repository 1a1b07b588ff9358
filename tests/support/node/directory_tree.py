# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory as a value: every path with its kind, mode, owner and content."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, Dict, NamedTuple

from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.recovery import RESUMABLE

IN_MEMORY = ("/proc", "/run")
"""Not compared: the state of the services covers what programs store there."""
LOG_OF_A_JOURNAL = ("steps", "step", "error", "gate")
"""For users only; a recovery does not use them, except that a resumed run skips the steps that are done."""
LOCKS = (f"{STATE_DIRECTORY}/lock", f"{STATE_DIRECTORY}/qos.lock")
"""Not compared: they contain the time at which they were taken."""
DOCUMENTS = ("journal.json", "result.json")
"""Compared without their log."""


class Entry(NamedTuple):
    """A file, directory or link in the node's tree."""

    mode: int
    owner: tuple[int, int]
    content: bytes


Tree = Dict[str, Entry]
"""By the path below the root."""

READ_ONLY = os.O_RDONLY | os.O_CLOEXEC
_open, _read, _close = os.open, os.read, os.close
"""The real functions; tests may replace those of ``os``."""

DIRECTORY = Entry(stat.S_IFDIR | 0o755, (os.geteuid(), os.getegid()), b"")


def entry(path: str) -> Entry | None:
    """Return the entry at a path; None if it does not exist."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    content = b""
    if stat.S_ISREG(status.st_mode):
        content = _content(path, status.st_size)
    elif stat.S_ISLNK(status.st_mode):
        content = os.fsencode(os.readlink(path))
    return Entry(status.st_mode, (status.st_uid, status.st_gid), content)


def _content(path: str, size: int) -> bytes:
    """Read a file in one call: thousands are read, and a stream for each takes longer."""
    handle = _open(path, READ_ONLY)
    try:
        data = _read(handle, size + 1)
    finally:
        _close(handle)
    assert len(data) == size, path
    return data


def tree_of(root: Path) -> Tree:
    """Everything below the root."""
    start = str(root)
    tree: Tree = {}
    directories = [start]
    while directories:
        for item in os.scandir(directories.pop()):
            node_entry = entry(item.path)
            assert node_entry is not None
            tree[item.path[len(start) :]] = node_entry
            if stat.S_ISDIR(node_entry.mode):
                directories.append(item.path)
    return tree


def unpack(tree: Tree, root: Path) -> None:
    """Re-create the tree in an empty directory."""
    for path in sorted(tree):
        node_entry, target = tree[path], f"{root}{path}"
        if stat.S_ISLNK(node_entry.mode):
            os.symlink(os.fsdecode(node_entry.content), target)
            continue
        if stat.S_ISDIR(node_entry.mode):
            os.mkdir(target)
        else:
            with open(target, "wb", buffering=0) as stream:
                stream.write(node_entry.content)
        os.chmod(target, stat.S_IMODE(node_entry.mode))
        if node_entry.owner != DIRECTORY.owner:
            os.chown(target, *node_entry.owner)


def is_draft(path: str) -> bool:
    """Whether this is a document of the collection before its rename.

    It is never read, and the next one of its name removes it first.
    """
    return path.startswith(STATE_DIRECTORY) and os.path.basename(path).startswith(".")


def hash_of(tree: Tree) -> int:
    """Return a hash that is equal for trees that a recovery cannot distinguish, except for drafts, which it removes."""
    total = 0
    for path, node_entry in tree.items():
        total ^= part_of(path, node_entry)
    return total


def part_of(path: str, node_entry: Entry) -> int:
    """Return one entry's part of ``hash_of``, which does not depend on the other entries."""
    if path.startswith(IN_MEMORY) or path in LOCKS or is_draft(path):
        return 0
    return hash((path, node_entry.mode, node_entry.owner, _decisive(path, node_entry.content)))


_DECISIVE: dict[bytes, bytes] = {}


def _decisive(path: str, content: bytes) -> bytes:
    if not content or not path.startswith(STATE_DIRECTORY) or os.path.basename(path) not in DOCUMENTS:
        return content
    if content not in _DECISIVE:
        _DECISIVE[content] = json.dumps(decisive_part(json.loads(content.decode())), sort_keys=True).encode()
    return _DECISIVE[content]


def decisive_part(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a recovery uses of a journal or result."""
    decisive = {key: value for key, value in document.items() if key not in LOG_OF_A_JOURNAL}
    if document["state"] in [state.value for state in RESUMABLE]:
        decisive["done"] = [step["name"] for step in document["steps"] if step["status"] == "done"]
    return decisive
