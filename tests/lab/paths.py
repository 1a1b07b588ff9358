# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of the lab: build results (cache) and running nodes (state)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import LabError

GUEST = Path(__file__).resolve().parent / "guest"
"""Files that go into nodes."""

CRI_CLIENT = Path(__file__).resolve().parents[2] / "plugins" / "module_utils" / "cri"
"""The collection's own client of the container runtime."""

NAME = "volcano-colocation-lab"


def cache_root() -> Path:
    """The directory of built images and binaries; you may delete it when no node is up."""
    return _directory("COLOCATION_LAB_CACHE", "XDG_CACHE_HOME", ".cache")


def state_root() -> Path:
    """The directory with one subdirectory for each node, and the lab's ssh key."""
    return _directory("COLOCATION_LAB_STATE", "XDG_STATE_HOME", ".local/state")


def control_root() -> Path:
    """The directory of ssh's shared connections; its path is short since unix socket paths are limited to 107 bytes."""
    directory = Path(tempfile.gettempdir()) / f"colocation-lab-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    if directory.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise LabError(f"{directory} must be a directory that only you can enter: remove it")
    return directory


def _directory(own: str, base: str, default: str) -> Path:
    if os.environ.get(own):
        directory = Path(os.environ[own])
    else:
        directory = Path(os.environ.get(base) or Path.home() / default) / NAME
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"cannot create {directory}: {error.strerror}; set {own} to a directory that you can write"
        ) from error
    return directory.resolve()
