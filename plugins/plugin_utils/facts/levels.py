# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which controllers each level of a cgroup2 tree hands down, from the root to the QoS classes."""

from __future__ import annotations

from collections.abc import Mapping

from .model import Level

_OFFERED = "/cgroup.controllers"
_ENABLED = "/cgroup.subtree_control"


def _empty_class(folder: str, enabled: tuple[str, ...]) -> bool:
    """A QoS class without pods hands nothing down, and needs not."""
    return not enabled and folder.removesuffix(".slice").endswith(("burstable", "besteffort"))


def _level(folder: str, files: Mapping[str, str], needed: frozenset[str]) -> Level:
    enabled = tuple(files[folder + _ENABLED].split())
    return Level(
        path=folder,
        controllers=tuple(files.get(folder + _OFFERED, "").split()),
        enabled=enabled,
        missing=() if _empty_class(folder, enabled) else tuple(sorted(needed - set(enabled))),
        kind=files.get(folder + "/cgroup.type"),
    )


def interpret_levels(files: Mapping[str, str], needed: frozenset[str]) -> tuple[Level, ...]:
    """The levels of which the snapshot holds a cgroup.subtree_control, the root first."""
    folders = sorted(path[: -len(_ENABLED)] for path in files if path.endswith(_ENABLED))
    return tuple(_level(folder, files, needed) for folder in folders)
