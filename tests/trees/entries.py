# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system as a value: what it holds, how it is written to a directory, and a digest of everything in it."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

OUTSIDE = "@outside"
"""In the target of a link: a directory beside the root, which nothing may change."""


class Kind(Enum):
    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    PIPE = "pipe"


@dataclass(frozen=True)
class Entry:
    kind: Kind
    data: bytes = b""
    target: str = ""
    mode: int | None = None


def file(data: bytes | str, mode: int | None = None) -> Entry:
    return Entry(Kind.FILE, data if isinstance(data, bytes) else data.encode(), mode=mode)


def link(target: str) -> Entry:
    return Entry(Kind.LINK, target=target)


DIRECTORY = Entry(Kind.DIRECTORY)
PIPE = Entry(Kind.PIPE)


@dataclass(frozen=True)
class Tree:
    """``entries`` by their path without a leading slash; an entry below one that is no directory is left out."""

    number: int
    entries: dict[str, Entry]

    def described(self) -> str:
        """One line an entry, and the text of each file below its line."""
        return "\n".join(_line(path, entry) for path, entry in sorted(self.entries.items()))


def _line(path: str, entry: Entry) -> str:
    mode = "" if entry.mode is None else f" {entry.mode:04o}"
    if entry.kind is Kind.LINK:
        return f"{path} -> {entry.target}"
    if entry.kind is not Kind.FILE:
        return f"{path}{mode} ({entry.kind.value})"
    text = entry.data.decode("utf-8", "backslashreplace")
    return "\n".join([f"{path}{mode}", *(f"    {line}" for line in text.split("\n"))])


def plant(tree: Tree, root: Path) -> Path:
    """Write the tree below ``root``, and ``outside`` beside it."""
    outside = root.parent / "outside"
    outside.mkdir(parents=True)
    (outside / "config.toml").write_text("version = 2\n# of another machine\n")
    (outside / "config.yaml").write_text("kind: KubeletConfiguration\n")
    root.mkdir()
    for path, entry in sorted(tree.entries.items()):
        place = root / path
        if _blocked(root, path):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        _make(place, entry, outside)
    return root


def _blocked(root: Path, path: str) -> bool:
    """Whether something above the path is a link or a file; nothing is written through a link."""
    above = [root.joinpath(*path.split("/")[:length]) for length in range(1, path.count("/") + 1)]
    return any(each.is_symlink() or (each.exists() and not each.is_dir()) for each in above)


def _make(place: Path, entry: Entry, outside: Path) -> None:
    if entry.kind is Kind.DIRECTORY:
        place.mkdir(exist_ok=True)
    elif place.exists():
        return
    elif entry.kind is Kind.LINK:
        place.symlink_to(entry.target.replace(OUTSIDE, str(outside)))
    elif entry.kind is Kind.PIPE:
        os.mkfifo(place)
    else:
        place.write_bytes(entry.data)
    if entry.mode is not None:
        place.chmod(entry.mode)


def digests(folder: Path) -> dict[str, tuple[object, ...]]:
    """Type, mode and owner of all below a directory; of files a digest of their bytes, of links their target."""
    found: dict[str, tuple[object, ...]] = {}
    for path, folders, names in os.walk(folder):
        for name in (*folders, *names):
            place = os.path.join(path, name)
            status = os.lstat(place)
            nature: tuple[object, ...] = (oct(status.st_mode), status.st_uid, status.st_gid)
            if stat.S_ISREG(status.st_mode):
                nature += (hashlib.sha256(Path(place).read_bytes()).hexdigest(),)
            elif stat.S_ISLNK(status.st_mode):
                nature += (os.readlink(place),)
            found[os.path.relpath(place, folder)] = nature
    return found
