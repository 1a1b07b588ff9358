# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limiting the size of Go's cache of compiled packages."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .cache import Cache
from .golang import COMPILED, unused
from .progress import Progress

LIMIT = 8_000_000_000
"""Bytes. The default set of programs needs 4 GB; Go itself deletes only files unused for five days."""

_TARGET_SHARE = 0.75
"""Size after trimming as a share of the limit; below 1, so that not every build trims."""


@dataclass(frozen=True)
class CachedFile:
    """A file of Go's cache. Go updates the time of a file that it uses, at most once an hour."""

    path: Path
    size: int
    used: float


def trim(cache: Cache, progress: Progress, limit: int = LIMIT) -> None:
    """Delete the least recently used files when the cache exceeds its limit and no build runs."""
    directory = cache.scratch(COMPILED)
    files = sorted(_files(directory), key=lambda file: file.used)
    total = sum(file.size for file in files)
    if total <= limit:
        return
    with unused(cache) as free:
        if not free:
            progress.say(f"Go's build cache has {total / 1e9:.1f} GB; another build uses it, the last build trims it")
            return
        size = _delete(files, total, limit * _TARGET_SHARE)
    progress.say(f"Go's build cache had {total / 1e9:.1f} GB, limit {limit / 1e9:.1f}: trimmed to {size / 1e9:.1f}")


def _delete(files: list[CachedFile], total: int, target: float) -> int:
    for file in files:
        if total <= target:
            break
        with contextlib.suppress(FileNotFoundError):
            file.path.unlink()
        total -= file.size
    return total


def _files(directory: Path) -> Iterator[CachedFile]:
    """The files of Go's cache, which are in 256 directories, 00 to ff."""
    for below in directory.glob("[0-9a-f][0-9a-f]"):
        # `programs --prune` may delete it.
        with contextlib.suppress(FileNotFoundError), os.scandir(below) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat()
                    yield CachedFile(Path(entry.path), status.st_size, status.st_mtime)
