# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One malformed input, the task that reads it, and the words of its message; whole trees as values."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import FILES

Text = str | bytes | None


def as_it_is(root: Path) -> None:
    """Only the files are malformed."""
    assert root.is_dir()


@dataclass(frozen=True)
class Case:
    """``files`` replace those of a valid image (None: missing), ``spoil`` makes other changes to the image.

    ``says``: words of the message, written by hand: where it is, what is wrong, what to do.
    ``record_paths``: directories of the image in which the refusal itself may be recorded.
    """

    module: str
    options: Mapping[str, Any]
    says: tuple[str, ...]
    files: Mapping[str, Text] = field(default_factory=dict)
    spoil: Callable[[Path], Any] = as_it_is
    record_paths: tuple[str, ...] = ()


def grow(root: Path, files: Mapping[str, Text]) -> Path:
    """A valid image with some files changed."""
    for name, text in {**FILES, **files}.items():
        if text is None:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def everything(root: Path) -> dict[str, tuple[Any, ...]]:
    """Name, type, mode and owner of everything in a directory, with content and time of files and link targets."""
    entries: dict[str, tuple[Any, ...]] = {}
    for directory, directories, names in os.walk(root):
        for name in (*directories, *names):
            path = os.path.join(directory, name)
            status = os.lstat(path)
            attributes: tuple[Any, ...] = (oct(status.st_mode), status.st_uid, status.st_gid)
            if stat.S_ISREG(status.st_mode):
                attributes += (status.st_mtime_ns, Path(path).read_bytes())
            elif stat.S_ISLNK(status.st_mode):
                attributes += (os.readlink(path),)
            entries[os.path.relpath(path, root)] = attributes
    return entries
