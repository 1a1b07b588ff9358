# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of the checkout, in which a file can be changed without an effect on the checkout."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

LINK = Path("ansible_collections", "volcano", "colocation")
CACHE = ".cache"
NOT_COPIED = (CACHE, ".git")
MUTATED = 1
"""Modification time of a mutated file, with which no compiled module of the original is valid."""


def make(checkout: Path, copy: Path) -> None:
    """Make ``copy`` equal to the files of ``checkout`` that git tracks or would track."""
    names = listed(checkout)
    for name in names:
        source, target = checkout / name, copy / name
        if not _is_same(source, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for path in [path for path in copy.rglob("*") if path.relative_to(copy).parts[0] not in NOT_COPIED]:
        if not path.is_dir() and path.relative_to(copy).as_posix() not in names:
            path.unlink()
    link = copy / CACHE / "dev" / LINK
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to("../../../..")
    # Tests list the files with git.
    subprocess.run(["git", "init", "--quiet", str(copy)], check=True)


def listed(checkout: Path) -> frozenset[str]:
    """Every existing file that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout
    return frozenset(name for name in output.split("\0") if name and os.path.lexists(checkout / name))


def _is_same(source: Path, target: Path) -> bool:
    if source.is_symlink() or not target.is_file() or target.is_symlink():
        return False
    one, other = source.stat(), target.stat()
    return (one.st_size, one.st_mtime_ns, one.st_mode) == (other.st_size, other.st_mtime_ns, other.st_mode)


@contextlib.contextmanager
def mutated(path: Path, text: str) -> Iterator[None]:
    """Replace the text of a file within the context."""
    original, status = path.read_bytes(), path.stat()
    path.write_text(text, encoding="utf-8", newline="")
    os.utime(path, (MUTATED, MUTATED))
    try:
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
