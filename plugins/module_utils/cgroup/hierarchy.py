# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the mount point of each cgroup controller on this node, and so the directories of a cgroup."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Iterable, Mapping, Sequence

from ..errors import ColocationError
from ..host import Host
from .safe_path import parts

ROOT = "/sys/fs/cgroup"
_CGROUP_MOUNT = re.compile(r" - cgroup2? | %s(/\S*)? .* - tmpfs " % re.escape(ROOT))
_NOT_CONTROLLERS = frozenset({"rw", "ro", "xattr", "clone_children", "noprefix", "favordynmods", "seclabel"})
"""Options of a v1 mount, kernel/cgroup/cgroup-v1.c; all others without a value are controllers."""
_OCTAL = re.compile(r"\\([0-7]{3})")


def cgroup_mounts(mountinfo: str) -> list[str]:
    """The lines of mountinfo about mounts of cgroups, in mount order."""
    return [line for line in mountinfo.splitlines() if _CGROUP_MOUNT.search(line)]


@dataclass(frozen=True)
class Hierarchy:
    """A mount of type cgroup, cgroup2 or tmpfs; ``root`` is the directory of the hierarchy that is mounted.

    ``name`` is the name of a named v1 hierarchy, for example systemd's without a controller; empty for all others.
    """

    mountpoint: str
    filesystem: str
    controllers: tuple[str, ...]
    root: str = "/"
    read_only: bool = False
    name: str = ""


def parse_mount(line: str) -> Hierarchy | None:
    """Parse a line of /proc/PID/mountinfo, proc(5): fields, ' - ', type, source, super options; None for others."""
    before, _separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ", 2)
    if len(fields) < 6 or len(tail) < 3:
        return None
    options = tail[2].split(",")
    controllers = [option for option in options if option not in _NOT_CONTROLLERS and "=" not in option]
    root, point = (_OCTAL.sub(lambda match: chr(int(match[1], 8)), field) for field in fields[3:5])
    return Hierarchy(
        mountpoint=point,
        filesystem=tail[0],
        controllers=tuple(controllers) if tail[0] == "cgroup" else (),
        root=root,
        read_only="ro" in fields[5].split(",") or "ro" in options,
        name=next((option[len("name=") :] for option in options if option.startswith("name=")), ""),
    )


def visible_mounts(lines: Iterable[str]) -> dict[str, Hierarchy]:
    """The visible mounts by mount point: a later mount hides earlier ones on the same mount point and below it."""
    visible: dict[str, Hierarchy] = {}
    for mount in filter(None, map(parse_mount, lines)):
        point = mount.mountpoint
        hidden = [other for other in visible if other == point or other.startswith(point + "/")]
        for other in hidden:
            del visible[other]
        visible[point] = mount
    return visible


MOUNTINFO = "/proc/self/mountinfo"
V1_CONTROLLER = re.compile(
    "blkio|cpu|cpuacct|cpuset|debug|devices|freezer|hugetlb|memory|misc|net_cls|net_prio|perf_event|pids|rdma"
)
"""Names of the controllers on v1: linux/cgroup_subsys.h."""
SYSTEMD = "systemd"
"""Key of the hierarchy without a controller in which systemd tracks processes, mounted with name=systemd."""

NEEDED_V2 = frozenset({"cpu", "cpuset", "memory", "io", "pids"})
"""Controllers that kubelet and QoS settings need on v2."""
_REMEDY = "See the mounts in %s; boot the node with cgroup v2, or with v1 for all controllers." % MOUNTINFO


@dataclass(frozen=True)
class Hierarchies:
    """``mode`` is v1 (also for hybrid, whose controllers are on v1) or v2; ``points`` maps controllers to mount points.

    On v1 ``points`` also has SYSTEMD if it is mounted. No mount point has a symbolic link below the cgroup root.
    """

    mode: str
    points: Mapping[str, str]

    def directory(self, controller: str, cgroup: str) -> str:
        """The directory of a cgroup, such as ``kubepods.slice``, in a controller's hierarchy; it need not exist."""
        if controller not in self.points:
            known = ", ".join(sorted(self.points)) or "none"
            raise ColocationError(
                f"this node has no controller {controller} (cgroup {self.mode}; available: {known})",
                "See /proc/cgroups, and cgroup_disable= and cgroup_no_v1= on the kernel's command line.",
            )
        return "/".join((self.points[controller].rstrip("/"), *parts(cgroup)))


def hierarchies(host: Host, cgroup_root: str = ROOT) -> Hierarchies:
    """The controllers of the running node, or of a tree of files if ``cgroup_root`` is another directory.

    ColocationError if the cgroup version is unknown, or if some controllers are on v1 and others on v2.
    """
    if not os.path.isabs(cgroup_root):
        raise ColocationError(f"the cgroup root {cgroup_root!r} is not an absolute path", f"The usual one is {ROOT}.")
    root = cgroup_root.rstrip("/") or "/"
    return _mounted_hierarchies(host) if root == ROOT else _hierarchies_of_tree(host, root)


def mode_of(mounts: Mapping[str, Hierarchy]) -> tuple[str, str]:
    """(v1, v2, hybrid or unknown; reason), as runc decides: opencontainers/cgroups utils.go IsCgroup2UnifiedMode."""
    root = mounts.get(ROOT)
    if root is None:
        elsewhere = sorted(mount.mountpoint for mount in mounts.values() if mount.filesystem in ("cgroup", "cgroup2"))
        hint = f"; cgroups are mounted at {elsewhere[0]}" if elsewhere else ""
        return "unknown", f"nothing is mounted at {ROOT}{hint}"
    if root.filesystem == "cgroup2":
        return "v2", f"cgroup2 is mounted at {ROOT}"
    if not any(mount.controllers for mount in mounts_below_root(mounts, "cgroup")):
        return "unknown", f"{ROOT} is {root.filesystem} and no controller is mounted below it"
    unified = mounts_below_root(mounts, "cgroup2")
    if unified:
        return "hybrid", f"controllers are mounted as v1, and cgroup2 is also mounted at {unified[0].mountpoint}"
    return "v1", f"controllers are mounted as v1 below {ROOT}"


def mounts_below_root(mounts: Mapping[str, Hierarchy], filesystem: str) -> list[Hierarchy]:
    """The mounts of a type at and below the cgroup root."""
    below = (mount for mount in mounts.values() if f"{mount.mountpoint}/".startswith(ROOT + "/"))
    return [mount for mount in below if mount.filesystem == filesystem]


def v1_points(mounts: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Each v1 controller's mount point; kubelet uses the shortest: helpers_linux.go getCgroupSubsystemsV1."""
    points: dict[str, str] = {}
    for mount in sorted(mounts.values(), key=lambda mount: -len(mount.mountpoint)):
        points.update(dict.fromkeys(mount.controllers, mount.mountpoint))
    return dict(sorted(points.items()))


def controllers_elsewhere(mode: str, v1: Mapping[str, str], v2: Mapping[str, str]) -> dict[str, str]:
    """Required controllers that are bound to the other version, with its mount point."""
    if mode == "v2":
        return {name: point for name, point in v1.items() if name in NEEDED_V2 | {"blkio"}}
    return {name: point for name, point in v2.items() if name in NEEDED_V2 and name not in v1}


def _mounted_hierarchies(host: Host) -> Hierarchies:
    try:
        text = host.read_table(MOUNTINFO)
    except OSError as error:
        raise ColocationError(f"the mount table cannot be read: {error.strerror}", file=MOUNTINFO) from error
    mounts = visible_mounts(cgroup_mounts(text))
    mode, reason = mode_of(mounts)
    if mode == "unknown":
        raise ColocationError(f"the cgroup version of the node is unknown: {reason}", _REMEDY)
    v1 = v1_points(mounts)
    v2 = {
        name: mount.mountpoint
        for mount in mounts_below_root(mounts, "cgroup2")
        for name in _available_controllers(host, mount.mountpoint)
    }
    _refuse_mixture(controllers_elsewhere(mode, v1, v2), mode, ROOT)
    return Hierarchies("v2", v2) if mode == "v2" else Hierarchies("v1", {**v1, **_systemd_point(mounts)})


def _systemd_point(mounts: Mapping[str, Hierarchy]) -> dict[str, str]:
    points = sorted((mount.mountpoint for mount in mounts.values() if mount.name == SYSTEMD), key=len)
    return {SYSTEMD: points[0]} if points else {}


def _refuse_mixture(elsewhere: Mapping[str, str], mode: str, root: str) -> None:
    if elsewhere:
        controllers = ", ".join(f"{name} at {point}" for name, point in sorted(elsewhere.items()))
        version = "v2" if mode == "v2" else "v1"
        raise ColocationError(
            f"cgroup {version} is in effect at {root}, but these controllers have the other version: {controllers}",
            _REMEDY,
        )


def _available_controllers(host: Host, point: str) -> Sequence[str]:
    file = point + "/cgroup.controllers"
    try:
        return host.read(file).split()
    except OSError as error:
        raise ColocationError(f"cannot be read: {error.strerror}", _REMEDY, file=file) from error


def _hierarchies_of_tree(host: Host, root: str) -> Hierarchies:
    names = host.list(root)
    if "cgroup.controllers" in names:
        return Hierarchies("v2", dict.fromkeys(_available_controllers(host, root), root))
    points = dict(_v1_directories(host, root, names))
    if not points.keys() - {SYSTEMD}:
        raise ColocationError(
            "is not a cgroup tree: it has neither cgroup.controllers nor a directory with the name of a controller",
            "Name the directory to use instead of /sys/fs/cgroup.",
            file=root,
        )
    unified = f"{root}/unified"
    other = _available_controllers(host, unified) if "cgroup.controllers" in host.list(unified) else ()
    _refuse_mixture(controllers_elsewhere("v1", points, dict.fromkeys(other, unified)), "v1", root)
    return Hierarchies("v1", points)


def _v1_directories(host: Host, root: str, names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """(controller, directory), shortest names last. A name lists controllers; a symbolic link is an alias."""
    directories = [name for name in names if stat.S_ISDIR(host.lstat(f"{root}/{name}").st_mode)]
    for name in sorted(names, key=len, reverse=True):
        target = name if name in directories else _target(host, f"{root}/{name}")
        if target not in directories:
            continue
        for controller in name.split(","):
            if V1_CONTROLLER.fullmatch(controller) or controller == SYSTEMD:
                yield controller, f"{root}/{target}"


def _target(host: Host, path: str) -> str:
    try:
        return host.readlink(path)
    except OSError:
        return ""
