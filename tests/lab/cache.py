# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache of build results, each in a directory named after the digest of its inputs.

An entry is built in a hidden directory and then renamed, so that it is always complete. Its manifest holds size and
SHA-256 of every file; an entry that no longer matches its manifest is built again and never used.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .progress import Progress

MANIFEST = "manifest.json"

_PARTIAL = ".partial"
"""The suffix of the hidden directory in which an entry is built."""

_BLOCK = 1 << 20

Build = Callable[[Path, Path], None]
"""Fills the directory of the first argument; long output goes to the log file of the second."""


@dataclass(frozen=True)
class Recipe:
    """What is built, and every text that determines its content."""

    kind: str
    label: str
    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        whole = "".join(f"{len(part)}:{part}" for part in self.parts)
        return f"{self.label}-{digest(whole.encode())[:16]}"


class Cache:
    """The entries below ``root``, shared by every process that builds or boots."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, recipe: Recipe) -> Path | None:
        """The directory of a complete, unchanged entry."""
        directory = self._directory(recipe)
        return directory if _is_intact(directory) else None

    def obtain(self, recipe: Recipe, build: Build, progress: Progress) -> Path:
        """The directory of the entry, built unless it exists; LabError when building fails."""
        with self._lock(recipe, progress):
            return self.find(recipe) or self._build(recipe, build, progress)

    def entries(self, kind: str) -> list[str]:
        """Names of the finished entries of a kind."""
        directory = self.root / kind
        return sorted(path.name for path in directory.glob("[!.]*"))

    def unfinished(self) -> list[tuple[str, str]]:
        """Kind and name of each entry whose build runs or was killed."""
        partials = self.root.glob(f"*/.*{_PARTIAL}")
        return sorted((path.parent.name, path.name[1:].removesuffix(_PARTIAL)) for path in partials)

    def remove(self, kind: str, name: str) -> int | None:
        """Delete an entry; the freed bytes, None when it stays because a process is building it."""
        return self._remove(kind, name, self.root / kind / name)

    def remove_unfinished(self, kind: str, name: str) -> int | None:
        """Delete the files of a killed build; the freed bytes, None when they stay because a build runs."""
        return self._remove(kind, name, _partial(self.root / kind / name))

    def _remove(self, kind: str, name: str, directory: Path) -> int | None:
        with (self.scratch("locks") / f"{kind}-{name}").open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            freed = disk_usage(directory)
            shutil.rmtree(directory, ignore_errors=True)
        return freed

    def scratch(self, name: str) -> Path:
        """A directory for files that are not entries."""
        directory = self.root / name
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def _build(self, recipe: Recipe, build: Build, progress: Progress) -> Path:
        directory = self._directory(recipe)
        partial = _partial(directory)
        for path in (partial, directory):
            shutil.rmtree(path, ignore_errors=True)
        partial.mkdir(parents=True)
        log = self.scratch("logs") / f"{recipe.kind}-{recipe.name}.log"
        log.write_bytes(b"")
        progress.say(f"building {recipe.kind} {recipe.name}; output in {log}")
        with progress.repeated(f"still building {recipe.kind}"):
            build(partial, log)
        _seal(partial)
        partial.rename(directory)
        progress.say(f"built {recipe.kind} {recipe.name}")
        return directory

    def _directory(self, recipe: Recipe) -> Path:
        return self.root / recipe.kind / recipe.name

    @contextlib.contextmanager
    def _lock(self, recipe: Recipe, progress: Progress) -> Iterator[None]:
        path = self.scratch("locks") / f"{recipe.kind}-{recipe.name}"
        with path.open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                progress.say(f"another process is building {recipe.kind} {recipe.name}; waiting for it")
                fcntl.flock(stream, fcntl.LOCK_EX)
            yield


def disk_usage(directory: Path) -> int:
    """Bytes on disk of the files below a directory; 0 when it does not exist."""
    total = 0
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def digest(blob: bytes) -> str:
    """Hex SHA-256 of a blob."""
    return hashlib.sha256(blob).hexdigest()


def sha256(path: Path) -> str:
    """Hex digest of a file's content; holes of a sparse file are hashed by their length and not read."""
    checksum = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        at = 0
        for begin, end in _extents(stream.fileno()):
            if begin != at:
                checksum.update(f"hole to {begin}".encode())
            for at in range(begin, end, _BLOCK):
                checksum.update(os.pread(stream.fileno(), min(_BLOCK, end - at), at))
            at = end
    return checksum.hexdigest()


def _extents(descriptor: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each data range of a file; the last range is empty and marks the end of the file."""
    size, end = os.fstat(descriptor).st_size, 0
    while end < size:
        try:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        yield begin, end
    yield size, size


def read_manifest(directory: Path) -> dict[str, dict[str, Any]]:
    """File name to size, time and digest; empty when there is no readable manifest."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    files = manifest if isinstance(manifest, dict) else {}
    return files if all(isinstance(file, dict) for file in files.values()) else {}


def _partial(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}{_PARTIAL}")


def _seal(directory: Path) -> None:
    manifest = {}
    for path in sorted(directory.iterdir()):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        status = path.stat()
        manifest[path.name] = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256(path)}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _is_intact(directory: Path) -> bool:
    manifest = read_manifest(directory)
    return bool(manifest) and all(_is_unchanged(directory / name, recorded) for name, recorded in manifest.items())


def _is_unchanged(path: Path, recorded: dict[str, Any]) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_size != recorded.get("size"):
        return False
    # Read the content, hundreds of megabytes, only when the time changed (a restored backup, a copy).
    return status.st_mtime_ns == recorded.get("mtime_ns") or sha256(path) == recorded.get("sha256")
