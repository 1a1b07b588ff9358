# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroup trees that the driver of the other kind left behind (a twin misleads every agent)."""

from __future__ import annotations

import os
from typing import Iterable, Iterator

from ..cgroup.hierarchy import MOUNTINFO, cgroup_mounts, visible_mounts
from ..cri.node_access import Node
from ..host import Host
from .service_units import show, stop


def mount_points(mountinfo: str) -> list[str]:
    """Mount points of the v1 and v2 hierarchies, each hierarchy once (proc_pid_mountinfo(5))."""
    mounts = visible_mounts(cgroup_mounts(mountinfo)).values()
    found: dict[tuple[str, ...], str] = {}
    for each in mounts:
        if each.filesystem in ("cgroup", "cgroup2") and each.root == "/":
            found.setdefault((each.filesystem, each.name, *sorted(each.controllers)), each.mountpoint)
    return list(found.values())


def remove_cgroup(node: Node, name: str) -> str:
    """Remove the tree ``name`` from every hierarchy unless a process lives in it; says what was done."""
    host = node.host
    found = cgroup_directories(host, name)
    if not found:
        return f"{name}: none"
    occupied = processes_in(host, [name])
    if occupied:
        return f"{name}: left alone, process {min(occupied)} is in it"
    if name.endswith(".slice") and show(node, os.path.basename(name)).runs:
        stop(node, os.path.basename(name))
    # systemd knows nothing of cpuset, hugetlb and the like on v1: what runc made there is still there.
    for tree in cgroup_directories(host, name):
        remove_tree(host, tree)
    left = cgroup_directories(host, name)
    return f"{name}: cannot be removed from {', '.join(left)}" if left else f"{name}: removed"


def processes_in(host: Host, names: Iterable[str]) -> set[int]:
    """Pids in the trees of these names."""
    return set().union(*(processes(host, tree) for name in names for tree in cgroup_directories(host, name)))


def processes(host: Host, tree: str) -> set[int]:
    """Pids in the tree, all levels."""
    found: set[int] = set()
    for folder in _bottom_up(host, tree):
        try:
            found.update(int(pid) for pid in host.read(folder + "/cgroup.procs").split())
        except FileNotFoundError:
            continue
        except OSError:
            # EOPNOTSUPP: a threaded v2 cgroup; its threads count in the domain above, which is in the tree as well.
            continue
    return found


def cgroup_directories(host: Host, name: str) -> list[str]:
    """The folder of the cgroup ``name`` in every hierarchy that has it."""
    candidates = (f"{mount.rstrip('/')}/{name}" for mount in mount_points(host.read_table(MOUNTINFO)))
    return [tree for tree in candidates if host.is_directory(tree)]


def _bottom_up(host: Host, tree: str) -> Iterator[str]:
    for entry in host.list(tree):
        path = f"{tree}/{entry}"
        if host.is_directory(path) and not host.is_symlink(path):
            yield from _bottom_up(host, path)
    yield tree


def remove_tree(host: Host, tree: str) -> None:
    """Remove the folders of a tree as far as no process is in them."""
    for folder in list(_bottom_up(host, tree)):
        try:
            os.rmdir(host.path(folder))
        except OSError:
            # A process came in between, or the folder went by itself: the caller looks again.
            continue
