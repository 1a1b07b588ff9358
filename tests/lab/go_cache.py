# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The size of Go's cache of compiled packages."""

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
"""Bytes. The default set of programs leaves 4 GB; Go itself deletes only what was not used for five days."""

_TARGET_SHARE = 0.75
"""Share of the limit that is left after trimming, so that not every build trims."""


@dataclass(frozen=True)
class CachedFile:
    """A file of Go's cache; Go sets its time when it uses it (at most once an hour)."""

    path: Path
    size: int
    used: float


def trim(cache: Cache, progress: Progress, limit: int = LIMIT) -> None:
    """Delete what was not used for longest when the cache is above its limit and no build runs."""
    directory = cache.scratch(COMPILED)
    files = sorted(_files(directory), key=lambda file: file.used)
    total = sum(file.size for file in files)
    if total <= limit:
        return
    with unused(cache) as free:
        if not free:
            progress.say(f"Go's build cache has {total / 1e9:.1f} GB; another build uses it, the last one trims it")
            return
        remaining_bytes = _delete(files, total, limit * _TARGET_SHARE)
    progress.say(
        f"Go's build cache had {total / 1e9:.1f} GB, more than {limit / 1e9:.1f}: deleted down to {remaining_bytes / 1e9:.1f}"
    )


def _delete(files: list[CachedFile], total: int, target: float) -> int:
    for file in files:
        if total <= target:
            break
        with contextlib.suppress(FileNotFoundError):
            file.path.unlink()
        total -= file.size
    return total


def _files(directory: Path) -> Iterator[CachedFile]:
    """Go's cache has 256 directories, 00 to ff, with the files."""
    for below in directory.glob("[0-9a-f][0-9a-f]"):
        # `programs --prune` may delete it.
        with contextlib.suppress(FileNotFoundError), os.scandir(below) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat()
                    yield CachedFile(Path(entry.path), status.st_size, status.st_mtime)
