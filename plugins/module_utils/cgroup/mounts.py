# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mount table's cgroup part: which hierarchies are to be seen, and how each is mounted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

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


def visible(lines: Iterable[str]) -> dict[str, Hierarchy]:
    """The mounts to be seen, by mountpoint: a later one hides the earlier ones on the same point and below it."""
    found: dict[str, Hierarchy] = {}
    for mount in filter(None, map(parse_mount, lines)):
        point = mount.mountpoint
        hidden = [other for other in found if other == point or other.startswith(point + "/")]
        for other in hidden:
            del found[other]
        found[point] = mount
    return found
