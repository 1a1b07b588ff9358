# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove cgroup trees of the other cgroup driver, because a second tree with pods' names misleads agents."""

from __future__ import annotations

import os
from typing import Iterable, Iterator

from ..cgroup.hierarchy import MOUNTINFO, cgroup_mounts, visible_mounts
from ..cri.node_access import Node
from ..host import Host
from .service_units import show, stop


def mount_points(mountinfo: str) -> list[str]:
    """Mount points of the v1 and v2 hierarchies, one for each hierarchy (proc_pid_mountinfo(5))."""
    mounts = visible_mounts(cgroup_mounts(mountinfo)).values()
    points: dict[tuple[str, ...], str] = {}
    for mount in mounts:
        if mount.filesystem in ("cgroup", "cgroup2") and mount.root == "/":
            points.setdefault((mount.filesystem, mount.name, *sorted(mount.controllers)), mount.mountpoint)
    return list(points.values())


def remove_cgroup(node: Node, name: str) -> str:
    """Remove the tree ``name`` from every hierarchy unless it has a process; returns what was done."""
    host = node.host
    directories = cgroup_directories(host, name)
    if not directories:
        return f"{name}: none"
    occupied = processes_in(host, [name])
    if occupied:
        return f"{name}: not removed, process {min(occupied)} is in it"
    if name.endswith(".slice") and show(node, os.path.basename(name)).runs:
        stop(node, os.path.basename(name))
    # systemd does not manage cpuset, hugetlb and similar controllers on v1: runc's cgroups in them still exist.
    for tree in cgroup_directories(host, name):
        remove_tree(host, tree)
    remaining = cgroup_directories(host, name)
    return f"{name}: cannot be removed from {', '.join(remaining)}" if remaining else f"{name}: removed"


def processes_in(host: Host, names: Iterable[str]) -> set[int]:
    """Pids in the trees with these names."""
    return set().union(*(processes(host, tree) for name in names for tree in cgroup_directories(host, name)))


def processes(host: Host, tree: str) -> set[int]:
    """Pids in the tree, at all levels."""
    pids: set[int] = set()
    for directory in _bottom_up(host, tree):
        try:
            pids.update(int(pid) for pid in host.read(directory + "/cgroup.procs").split())
        except FileNotFoundError:
            continue
        except OSError:
            # EOPNOTSUPP: a threaded v2 cgroup; its threads belong to the domain above, which is in the tree as well.
            continue
    return pids


def cgroup_directories(host: Host, name: str) -> list[str]:
    """The directory of the cgroup ``name`` in every hierarchy that has it."""
    candidates = (f"{mount.rstrip('/')}/{name}" for mount in mount_points(host.read_table(MOUNTINFO)))
    return [tree for tree in candidates if host.is_directory(tree)]


def _bottom_up(host: Host, tree: str) -> Iterator[str]:
    for entry in host.list(tree):
        path = f"{tree}/{entry}"
        if host.is_directory(path) and not host.is_symlink(path):
            yield from _bottom_up(host, path)
    yield tree


def remove_tree(host: Host, tree: str) -> None:
    """Remove the directories of a tree that have no process."""
    for directory in list(_bottom_up(host, tree)):
        try:
            os.rmdir(host.path(directory))
        except OSError:
            # A new process is in it, or the directory was already removed: the caller checks again.
            continue
