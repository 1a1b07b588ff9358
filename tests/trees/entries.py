# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system as a value: its entries, writing it to a directory, and digests of a directory."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

OUTSIDE = "@outside"
"""In the target of a link: a directory next to the root, which nothing may change."""


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
    """``entries`` by their path without a leading slash; an entry below a file or link is not written."""

    number: int
    entries: dict[str, Entry]

    def described(self) -> str:
        """One line for each entry, followed by the text of a file."""
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
    """Write the tree below ``root``, and ``outside`` next to it."""
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
    """Whether a parent of the path is a link or a file; nothing is written through a link."""
    above = [root.joinpath(*path.split("/")[:length]) for length in range(1, path.count("/") + 1)]
    return any(parent.is_symlink() or (parent.exists() and not parent.is_dir()) for parent in above)


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


def digests(directory: Path) -> dict[str, tuple[object, ...]]:
    """Type, mode and owner of everything below a directory, with the digest of a file or the target of a link."""
    attributes_by_path: dict[str, tuple[object, ...]] = {}
    start = len(os.path.join(directory, ""))
    for path, directories, names in os.walk(directory):
        for name in (*directories, *names):
            place = os.path.join(path, name)
            status = os.lstat(place)
            attributes: tuple[object, ...] = (oct(status.st_mode), status.st_uid, status.st_gid)
            if stat.S_ISREG(status.st_mode):
                with open(place, "rb", buffering=0) as stream:
                    attributes += (hashlib.sha256(stream.read()).hexdigest(),)
            elif stat.S_ISLNK(status.st_mode):
                attributes += (os.readlink(place),)
            attributes_by_path[place[start:]] = attributes
    return attributes_by_path
