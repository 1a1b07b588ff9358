# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that keeps nothing it was not told to keep: what a power cut leaves of a folder in the worst case.

fsync(2) of a file keeps its content and its nature, fsync of a folder the names in it; nothing else keeps anything.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, Tuple, Union

from ansible_collections.volcano.colocation.tests.support.node.directory_tree import FOLDER, Entry, Tree, entry

Folder = Tuple[int, Entry]
Kept = Union[int, Folder]
"""The inode of a folder with its nature, or just that of anything else."""
NEVER_WRITTEN = Entry(stat.S_IFREG | 0o600, FOLDER.owner, b"")


class Disk:
    """Starts with everything kept that is there."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._inode = os.stat(self._root).st_ino
        self._names: dict[int, dict[str, Kept]] = {}
        self._contents: dict[int, Entry] = {}
        self.keep_all()

    def keep_all(self) -> None:
        """All that is there was written by somebody else, who is not looked at here."""
        folders = [self._root]
        while folders:
            folder = folders.pop()
            self._keep_names(folder)
            for each in os.scandir(folder):
                if each.is_dir(follow_symlinks=False):
                    folders.append(each.path)
                else:
                    self._keep(each.inode(), each.path)

    def fsync(self, handle: int) -> None:
        """An open file or folder of ours was synced."""
        link = f"/proc/self/fd/{handle}"
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            self._keep_names(os.readlink(link))
            return
        with open(link, "rb", buffering=0) as stream:
            self._contents[found.st_ino] = Entry(found.st_mode, (found.st_uid, found.st_gid), stream.read())

    def tree(self) -> Tree:
        """What is there after the power cut."""
        found: Tree = {}
        folders = [("", self._inode)]
        while folders:
            folder, inode = folders.pop()
            for name, kept in self._names.get(inode, {}).items():
                path = f"{folder}/{name}"
                if isinstance(kept, tuple):
                    folders.append((path, kept[0]))
                    found[path] = kept[1]
                else:
                    found[path] = self._contents.get(kept, NEVER_WRITTEN)
        return found

    def _keep_names(self, folder: str) -> None:
        self._names[os.stat(folder).st_ino] = {each.name: _kept(each) for each in os.scandir(folder)}

    def _keep(self, inode: int, path: str) -> None:
        kept = entry(path)
        assert kept is not None
        self._contents[inode] = kept


def _kept(found: Any) -> Kept:
    """What a name in a folder stands for."""
    if not found.is_dir(follow_symlinks=False):
        return int(found.inode())
    kept = entry(found.path)
    assert kept is not None
    return found.inode(), kept
