# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Built things, each in a folder named after the digest of everything it was made from.

An entry appears complete or not at all: it is built in a hidden folder and renamed. Its manifest holds size and SHA-256 of
every file; an entry that no longer matches its manifest is built anew and never used.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple

from .progress import Progress

MANIFEST = "manifest.json"

Build = Callable[[Path, Path], None]
"""Fills the folder given first; long output goes to the log file given second."""


@dataclass(frozen=True)
class Recipe:
    """What is built, and every text that decides how it turns out."""

    kind: str
    label: str
    parts: Tuple[str, ...]

    @property
    def name(self) -> str:
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(f"{len(part)}:{part}".encode())
        return f"{self.label}-{digest.hexdigest()[:16]}"


class Cache:
    """The entries below ``root``, shared by every process that builds or boots."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, recipe: Recipe) -> Optional[Path]:
        """The folder of a complete, unchanged entry."""
        folder = self._folder(recipe)
        return folder if _intact(folder) else None

    def obtain(self, recipe: Recipe, build: Build, progress: Progress) -> Path:
        """The folder of the entry, built now unless it is there; LabError when building fails."""
        with self._lock(recipe, progress):
            folder = self.find(recipe)
            if folder:
                progress.say(f"{recipe.kind} {recipe.name} is in the cache")
                return folder
            return self._build(recipe, build, progress)

    def scratch(self, name: str) -> Path:
        """A folder for files that are not entries."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _build(self, recipe: Recipe, build: Build, progress: Progress) -> Path:
        folder = self._folder(recipe)
        partial = folder.with_name(f".{folder.name}.partial")
        for leftover in (partial, folder):
            shutil.rmtree(leftover, ignore_errors=True)
        partial.mkdir(parents=True)
        log = self.scratch("logs") / f"{recipe.kind}-{recipe.name}.log"
        log.write_bytes(b"")
        progress.say(f"building {recipe.kind} {recipe.name}; output in {log}")
        build(partial, log)
        _seal(partial)
        partial.rename(folder)
        progress.say(f"built {recipe.kind} {recipe.name}")
        return folder

    def _folder(self, recipe: Recipe) -> Path:
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


def sha256(path: Path) -> str:
    """Hex digest of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def read_manifest(folder: Path) -> Dict[str, Dict[str, Any]]:
    """File name to size, time and digest; empty when there is no readable manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _seal(folder: Path) -> None:
    manifest = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        status = path.stat()
        manifest[path.name] = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256(path)}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _intact(folder: Path) -> bool:
    manifest = read_manifest(folder)
    return bool(manifest) and all(_unchanged(folder / name, wanted) for name, wanted in manifest.items())


def _unchanged(path: Path, wanted: Dict[str, Any]) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_size != wanted["size"]:
        return False
    # The content is read only when something touched the file (a restored backup, a copy): it is hundreds of megabytes.
    return status.st_mtime_ns == wanted["mtime_ns"] or sha256(path) == wanted["sha256"]
