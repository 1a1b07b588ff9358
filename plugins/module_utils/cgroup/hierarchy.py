# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each controller of this node is mounted, and so which directories a cgroup has."""

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
    """The lines of mountinfo that say how cgroups are mounted, in mount order."""
    return [line for line in mountinfo.splitlines() if _CGROUP_MOUNT.search(line)]


@dataclass(frozen=True)
class Hierarchy:
    """A mount of type cgroup, cgroup2 or tmpfs; ``root`` is the folder of the hierarchy that is mounted.

    ``name`` is a v1 hierarchy's that has one, such as systemd's without a controller; empty for all others.
    """

    mountpoint: str
    filesystem: str
    controllers: tuple[str, ...]
    root: str = "/"
    read_only: bool = False
    name: str = ""


def parse_mount(line: str) -> Hierarchy | None:
    """A line of /proc/PID/mountinfo, proc(5): fields, ' - ', type, source and super options; None for anything else."""
    before, _separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ", 2)
    if len(fields) < 6 or len(tail) < 3:
        return None
    options = tail[2].split(",")
    controllers = [each for each in options if each not in _NOT_CONTROLLERS and "=" not in each]
    root, point = (_OCTAL.sub(lambda found: chr(int(found[1], 8)), field) for field in fields[3:5])
    return Hierarchy(
        mountpoint=point,
        filesystem=tail[0],
        controllers=tuple(controllers) if tail[0] == "cgroup" else (),
        root=root,
        read_only="ro" in fields[5].split(",") or "ro" in options,
        name=next((each[len("name=") :] for each in options if each.startswith("name=")), ""),
    )


def visible_mounts(lines: Iterable[str]) -> dict[str, Hierarchy]:
    """The mounts to be seen, by mountpoint: a later one hides the earlier ones on the same point and below it."""
    found: dict[str, Hierarchy] = {}
    for mount in filter(None, map(parse_mount, lines)):
        point = mount.mountpoint
        hidden = [other for other in found if other == point or other.startswith(point + "/")]
        for other in hidden:
            del found[other]
        found[point] = mount
    return found


MOUNTINFO = "/proc/self/mountinfo"
V1_CONTROLLER = re.compile(
    "blkio|cpu|cpuacct|cpuset|debug|devices|freezer|hugetlb|memory|misc|net_cls|net_prio|perf_event|pids|rdma"
)
"""linux/cgroup_subsys.h, under their names on v1."""
SYSTEMD = "systemd"
"""Key of the hierarchy without a controller that systemd counts processes in, mounted with name=systemd."""

NEEDED_V2 = frozenset({"cpu", "cpuset", "memory", "io", "pids"})
"""What kubelet needs on v2 and QoS settings are made of."""
_REMEDY = "cat %s tells what is mounted; boot the node with cgroup v2, or wholly with v1." % MOUNTINFO


@dataclass(frozen=True)
class Hierarchies:
    """``mode`` is v1 (hybrid too, whose controllers are v1's) or v2; ``points`` has the mount point of each controller.

    On v1 ``points`` also has SYSTEMD, where it is mounted. No mount point passes a symlink below the cgroup root.
    """

    mode: str
    points: Mapping[str, str]

    def directory(self, controller: str, cgroup: str) -> str:
        """The folder of a cgroup, such as ``kubepods.slice``, in a controller's hierarchy; it need not exist."""
        if controller not in self.points:
            known = ", ".join(sorted(self.points)) or "none"
            raise ColocationError(
                f"this node has no controller {controller} (cgroup {self.mode}; there are: {known})",
                "See /proc/cgroups, and cgroup_disable= and cgroup_no_v1= on the kernel's command line.",
            )
        return "/".join((self.points[controller].rstrip("/"), *parts(cgroup)))


def hierarchies(host: Host, cgroup_root: str = ROOT) -> Hierarchies:
    """The controllers of the running node, or of a tree of files when ``cgroup_root`` is another folder.

    ColocationError when it is unknown which version is in force, or some controllers are on v1 and others on v2.
    """
    if not os.path.isabs(cgroup_root):
        raise ColocationError(f"the cgroup root {cgroup_root!r} is no absolute path", f"The usual one is {ROOT}.")
    root = cgroup_root.rstrip("/") or "/"
    return _mounted_hierarchies(host) if root == ROOT else _hierarchies_of_tree(host, root)


def mode_of(mounts: Mapping[str, Hierarchy]) -> tuple[str, str]:
    """(v1, v2, hybrid or unknown; why), as runc decides: opencontainers/cgroups utils.go IsCgroup2UnifiedMode."""
    root = mounts.get(ROOT)
    if root is None:
        elsewhere = sorted(each.mountpoint for each in mounts.values() if each.filesystem in ("cgroup", "cgroup2"))
        hint = f"; cgroups are mounted at {elsewhere[0]}" if elsewhere else ""
        return "unknown", f"nothing is mounted at {ROOT}{hint}"
    if root.filesystem == "cgroup2":
        return "v2", f"cgroup2 is mounted at {ROOT}"
    if not any(each.controllers for each in mounts_below_root(mounts, "cgroup")):
        return "unknown", f"{ROOT} is {root.filesystem} and no controller is mounted below it"
    unified = mounts_below_root(mounts, "cgroup2")
    if unified:
        return "hybrid", f"controllers are mounted as v1, and {unified[0].mountpoint} is cgroup2 beside them"
    return "v1", f"controllers are mounted as v1 below {ROOT}"


def mounts_below_root(mounts: Mapping[str, Hierarchy], filesystem: str) -> list[Hierarchy]:
    """The mounts of a type at the cgroup root and below it."""
    found = (each for each in mounts.values() if f"{each.mountpoint}/".startswith(ROOT + "/"))
    return [each for each in found if each.filesystem == filesystem]


def v1_points(mounts: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Each v1 controller's mount point; kubelet takes the shortest, helpers_linux.go getCgroupSubsystemsV1."""
    found: dict[str, str] = {}
    for mount in sorted(mounts.values(), key=lambda each: -len(each.mountpoint)):
        found.update(dict.fromkeys(mount.controllers, mount.mountpoint))
    return dict(sorted(found.items()))


def controllers_elsewhere(mode: str, v1: Mapping[str, str], v2: Mapping[str, str]) -> dict[str, str]:
    """Needed controllers that are bound to the version which is not in force, with its mount point."""
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
        raise ColocationError(f"which cgroup version is in force is unknown: {reason}", _REMEDY)
    v1 = v1_points(mounts)
    v2 = {
        name: each.mountpoint
        for each in mounts_below_root(mounts, "cgroup2")
        for name in _available_controllers(host, each.mountpoint)
    }
    _refuse_mixture(controllers_elsewhere(mode, v1, v2), mode, ROOT)
    return Hierarchies("v2", v2) if mode == "v2" else Hierarchies("v1", {**v1, **_systemd_point(mounts)})


def _systemd_point(mounts: Mapping[str, Hierarchy]) -> dict[str, str]:
    found = sorted((each.mountpoint for each in mounts.values() if each.name == SYSTEMD), key=len)
    return {SYSTEMD: found[0]} if found else {}


def _refuse_mixture(elsewhere: Mapping[str, str], mode: str, root: str) -> None:
    if elsewhere:
        told = ", ".join(f"{name} at {point}" for name, point in sorted(elsewhere.items()))
        in_force = "v2" if mode == "v2" else "v1"
        raise ColocationError(f"cgroup {in_force} is in force at {root}, and of the other version are: {told}", _REMEDY)


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
            "is no cgroup tree: neither cgroup.controllers nor a folder named after a controller is there",
            "Give the folder that stands for /sys/fs/cgroup.",
            file=root,
        )
    unified = f"{root}/unified"
    other = _available_controllers(host, unified) if "cgroup.controllers" in host.list(unified) else ()
    _refuse_mixture(controllers_elsewhere("v1", points, dict.fromkeys(other, unified)), "v1", root)
    return Hierarchies("v1", points)


def _v1_directories(host: Host, root: str, names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """By controller: its folder, the shortest last. A name is a list of them; a symlink is another name of one."""
    folders = [name for name in names if stat.S_ISDIR(host.lstat(f"{root}/{name}").st_mode)]
    for name in sorted(names, key=len, reverse=True):
        target = name if name in folders else _target(host, f"{root}/{name}")
        if target not in folders:
            continue
        for controller in name.split(","):
            if V1_CONTROLLER.fullmatch(controller) or controller == SYSTEMD:
                yield controller, f"{root}/{target}"


def _target(host: Host, path: str) -> str:
    try:
        return host.readlink(path)
    except OSError:
        return ""
