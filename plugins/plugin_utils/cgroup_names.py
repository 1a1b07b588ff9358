# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet's drivers put what cgroupRoot names: pkg/kubelet/cm/cgroup_manager_linux.go ToSystemd, ToCgroupfs."""

from __future__ import annotations

from ..module_utils.snapshot.reserved import slice_path
from .facts.model import Driver


def slice_name(root: str) -> str:
    """The systemd driver's name of a path, without its ending: /a/b-c is a-b_c."""
    return "-".join(part.replace("-", "_") for part in root.strip("/").split("/"))


def path_of(root: str, driver: Driver) -> str:
    """A path of cgroupRoot's kind as it stands below a hierarchy: /a/b is a/b or a.slice/a-b.slice."""
    nested: str | None = slice_path(slice_name(root)) if driver is Driver.SYSTEMD else None
    return nested or root.strip("/")


def tree_of(root: str, driver: Driver) -> str:
    """The cgroup that all pods are in."""
    return path_of(f"{root.rstrip('/')}/kubepods", driver)
