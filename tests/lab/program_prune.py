# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting cache entries outside the tables, files of killed builds, and Go's caches, which builds fill again."""

from __future__ import annotations

import shutil
from pathlib import Path

from . import debian_kubelet, programs, root
from .cache import Cache, disk_usage
from .cluster import monitoring
from .golang import COMPILED, MODULES, TOOLCHAINS, find_go, toolchain, unused
from .kubernetes import pause_recipe
from .program_lock import WORK
from .program_table import FAMILIES
from .progress import Progress
from .spec import Suite

FORMER_KINDS = ("control-plane", "etcd")
"""Kinds of entries of earlier versions of the lab."""

DISKS = "disk"


def prune(cache: Cache, progress: Progress) -> None:
    """Delete entries without a recipe, files of killed builds, and Go's files unless a build uses them."""
    for kind, names in pinned().items():
        for name in cache.entries(kind):
            if name not in names:
                _say(progress, f"{kind} {name}", cache.remove(kind, name))
    for kind, name in cache.unfinished():
        _say(progress, f"unfinished {kind} {name}", cache.remove_unfinished(kind, name))
    with unused(cache) as free:
        for directory in _go_directories(cache):
            _say(progress, str(directory.relative_to(cache.root)), _delete(directory) if free else None)
    disks = cache.entries(DISKS)
    if disks:
        size = _size(disk_usage(cache.root / DISKS))
        progress.say(f"{len(disks)} disks of nodes stay ({size}): delete {cache.root / DISKS} when no node is up")


def pinned() -> dict[str, set[str]]:
    """Kind to names of the entries in the current tables and files."""
    built = {
        programs.recipe(family, group, find_go(programs.minimum_go(family)).release).name
        for family in FAMILIES
        for group in family.groups
    }
    return {
        programs.KIND: built,
        "kubelet": {debian_kubelet.recipe().name},
        "source": {debian_kubelet.source_recipe().name},
        "pause": {pause_recipe().name},
        monitoring.KIND: {monitoring.recipe().name},
        "root": {root.recipe(suite).name for suite in Suite},
        **{kind: set() for kind in FORMER_KINDS},
    }


def _go_directories(cache: Cache) -> list[Path]:
    """Go's caches, the files of a killed `make lock`, and releases of Go that are not pinned or are incomplete."""
    toolchains = [path for path in cache.scratch(TOOLCHAINS).iterdir() if path.is_dir() and path.name != toolchain()]
    caches = [cache.root / name for name in (COMPILED, MODULES, WORK)]
    return [directory for directory in [*caches, *toolchains] if directory.is_dir()]


def _delete(directory: Path) -> int:
    size = disk_usage(directory)
    shutil.rmtree(directory, ignore_errors=True)
    return size


def _say(progress: Progress, what: str, freed: int | None) -> None:
    progress.say(f"{what} stays: a build uses it" if freed is None else f"deleted {what}: {_size(freed)}")


def _size(count: int) -> str:
    return f"{count / 1e6:.0f} MB"
