# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about file systems: whether what a change writes to is writable, and still there after a reboot."""

from __future__ import annotations

import os
import re
from typing import Any, Iterable

from ..host import Host
from .files import kernel_text

SYSTEM = ("/", "/usr", "/etc", "/var")
UNITS, ENGINE, STATE = WRITTEN = (
    "/etc/systemd/system",
    "/usr/local/lib/volcano-colocation",
    "/var/lib/volcano-colocation",
)
"""What every change of services writes to: the unit that undoes it at boot, the engine, the journal with backups."""

MEMORY = ("tmpfs", "ramfs")
VOLATILE_FOLDER = "/run/"
_OCTAL = re.compile(r"\\([0-7]{3})")


def filesystems(host: Host) -> dict[str, dict[str, Any]]:
    """``{path: {leads_to, mount, type, read_only, volatile}}`` of the file system that each path is on.

    ``volatile``: its content is kept in memory. Links are followed; paths whose mount is not known are left out.
    """
    mounts = list(filter(None, map(_parse, (kernel_text(host, "/proc/self/mountinfo") or "").splitlines())))
    found = {}
    for path in SYSTEM + WRITTEN:
        try:
            target = _resolved(host, path)
        except (OSError, ValueError):
            continue
        mount = covering(mounts, target)
        if mount is not None:
            found[path] = {"leads_to": target, **mount}
    return found


def covering(mounts: Iterable[dict[str, Any]], path: str) -> dict[str, Any] | None:
    """The mount that a path without links is on: the longest mount point, of two on one point the later."""
    found = None
    for mount in mounts:
        point = mount["mount"]
        covers = point in ("/", path) or path.startswith(point + "/")
        # Their order says nothing of / itself: what the initramfs mounted comes before it.
        if covers and (found is None or len(point) >= len(found["mount"])):
            found = mount
    return found


def _resolved(host: Host, path: str) -> str:
    if host.live:
        return os.path.realpath(path)
    return host.real_path(path)[len(host.root) :] or "/"


def _parse(line: str) -> dict[str, Any] | None:
    """A line of mountinfo, proc(5): its fifth and sixth field, and behind the dash type and options of the device."""
    before, _separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ", 2)
    if len(fields) < 6 or len(tail) < 3:
        return None
    options = tail[2].split(",")
    return {
        "mount": _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]),
        "type": tail[0],
        "read_only": "ro" in fields[5].split(",") or "ro" in options,
        "volatile": tail[0] in MEMORY or _in_memory(options),
    }


def _in_memory(options: list[str]) -> bool:
    """Whether an overlay keeps what is written in a folder of /run, as systems with a temporary /etc do."""
    return any(each.startswith("upperdir=") and each[9:].startswith(VOLATILE_FOLDER) for each in options)
