# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting what the present tables do not name, and Go's caches, which any build fills again."""

from __future__ import annotations

import shutil

from . import debian_kubelet, programs, root
from .cache import Cache, disk_usage
from .golang import COMPILED, MODULES, find_go, unused
from .kubernetes import pause_recipe
from .program_table import FAMILIES
from .progress import Progress
from .spec import Suite

FORMER_KINDS = ("control-plane", "etcd")
"""Kinds of entries that earlier versions of the lab made."""

DISKS = "disk"


def prune(cache: Cache, progress: Progress) -> None:
    """Delete entries without a recipe, then Go's compiled packages and modules unless a build uses them."""
    for kind, names in pinned().items():
        for name in cache.entries(kind):
            if name not in names:
                progress.say(f"deleted {kind} {name}: {_size(cache.remove(kind, name))}")
    with unused(cache) as free:
        for name in (COMPILED, MODULES):
            _empty(cache, name, progress) if free else progress.say(f"{name} stays: a build uses it")
    disks = cache.entries(DISKS)
    if disks:
        size = _size(disk_usage(cache.root / DISKS))
        progress.say(f"{len(disks)} disks of nodes stay ({size}): delete {cache.root / DISKS} when no node is up")


def pinned() -> dict[str, set[str]]:
    """Kind to names of the entries that the present tables and files name."""
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
        "root": {root.recipe(suite).name for suite in Suite},
        **{kind: set() for kind in FORMER_KINDS},
    }


def _empty(cache: Cache, name: str, progress: Progress) -> None:
    folder = cache.scratch(name)
    size = disk_usage(folder)
    shutil.rmtree(folder, ignore_errors=True)
    progress.say(f"emptied {name}: {_size(size)}")


def _size(count: int) -> str:
    return f"{count / 1e6:.0f} MB"
