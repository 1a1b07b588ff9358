# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worst case after a power cut: a disk that has only what was synced.

fsync(2) of a file stores its content and attributes; fsync(2) of a directory stores the names in it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, Tuple, Union

from ansible_collections.volcano.colocation.tests.support.node.directory_tree import DIRECTORY, Entry, Tree, entry

Directory = Tuple[int, Entry]
Stored = Union[int, Directory]
"""Inode and entry of a directory, or the inode of anything else."""
NEVER_WRITTEN = Entry(stat.S_IFREG | 0o600, DIRECTORY.owner, b"")


class Disk:
    """At the start, everything that exists is stored."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._inode = os.stat(self._root).st_ino
        self._names: dict[int, dict[str, Stored]] = {}
        self._contents: dict[int, Entry] = {}
        self.keep_all()

    def keep_all(self) -> None:
        """Store everything: another program wrote it, and its syncs are not recorded."""
        directories = [self._root]
        while directories:
            directory = directories.pop()
            self._keep_names(directory)
            for item in os.scandir(directory):
                if item.is_dir(follow_symlinks=False):
                    directories.append(item.path)
                else:
                    self._keep(item.inode(), item.path)

    def fsync(self, handle: int) -> None:
        """Store an open file or directory that the engine synced."""
        link = f"/proc/self/fd/{handle}"
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            self._keep_names(os.readlink(link))
            return
        with open(link, "rb", buffering=0) as stream:
            self._contents[status.st_ino] = Entry(status.st_mode, (status.st_uid, status.st_gid), stream.read())

    def tree(self) -> Tree:
        """Return the tree after the power cut."""
        tree: Tree = {}
        directories = [("", self._inode)]
        while directories:
            directory, inode = directories.pop()
            for name, stored in self._names.get(inode, {}).items():
                path = f"{directory}/{name}"
                if isinstance(stored, tuple):
                    directories.append((path, stored[0]))
                    tree[path] = stored[1]
                else:
                    tree[path] = self._contents.get(stored, NEVER_WRITTEN)
        return tree

    def _keep_names(self, directory: str) -> None:
        self._names[os.stat(directory).st_ino] = {item.name: _stored(item) for item in os.scandir(directory)}

    def _keep(self, inode: int, path: str) -> None:
        content = entry(path)
        assert content is not None
        self._contents[inode] = content


def _stored(item: Any) -> Stored:
    """Return what is stored for a name in a directory."""
    if not item.is_dir(follow_symlinks=False):
        return int(item.inode())
    content = entry(item.path)
    assert content is not None
    return item.inode(), content
