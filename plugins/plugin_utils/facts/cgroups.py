# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroup mode from the mount table and statfs, as runc's IsCgroup2UnifiedMode and systemd decide it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .model import CgroupFacts, CgroupMode

ROOT = "/sys/fs/cgroup"
UNIFIED = ROOT + "/unified"
CGROUP2_MAGIC = "63677270"
TMPFS_MAGIC = "1021994"
_NOT_CONTROLLERS = {"rw", "ro", "xattr", "clone_children", "nsdelegate", "memory_recursiveprot"}


@dataclass(frozen=True)
class Mount:
    mountpoint: str
    filesystem: str
    controllers: tuple[str, ...]


def parse_mount(line: str) -> Mount:
    """A line of /proc/PID/mountinfo, proc(5): fields before ' - ', then type, source, super options."""
    before, _separator, after = line.partition(" - ")
    filesystem, _source, options = after.split(" ", 2)
    named = [each for each in options.split(",") if each not in _NOT_CONTROLLERS and "=" not in each]
    return Mount(before.split()[4], filesystem, tuple(named) if filesystem == "cgroup" else ())


def _mode(mounts: Mapping[str, Mount]) -> tuple[CgroupMode, str]:
    root = mounts.get(ROOT)
    if root is None:
        return CgroupMode.UNKNOWN, f"nothing is mounted at {ROOT}"
    if root.filesystem == "cgroup2":
        return CgroupMode.V2, f"cgroup2 is mounted at {ROOT}"
    if not any(mount.controllers for mount in mounts.values()):
        return CgroupMode.UNKNOWN, f"{ROOT} is {root.filesystem} and no controller is mounted below it"
    if UNIFIED in mounts:
        return CgroupMode.HYBRID, f"controllers are mounted as v1 and {UNIFIED} is cgroup2 without any"
    return CgroupMode.V1, f"controllers are mounted as v1 below {ROOT}"


def _contradiction(mode: CgroupMode, filesystem_types: Mapping[str, str]) -> str | None:
    magic = filesystem_types.get(ROOT)
    expected = {CgroupMode.V2: CGROUP2_MAGIC, CgroupMode.V1: TMPFS_MAGIC, CgroupMode.HYBRID: TMPFS_MAGIC}.get(mode)
    if magic is None or expected is None or magic == expected:
        return None
    return f"the mount table says {mode.value}, statfs says 0x{magic} at {ROOT}"


def _controllers(mode: CgroupMode, mounts: Iterable[Mount], files: Mapping[str, str]) -> tuple[str, ...]:
    if mode is CgroupMode.V2:
        return tuple(files.get(ROOT + "/cgroup.controllers", "").split())
    return tuple(sorted({name for mount in mounts for name in mount.controllers}))


def interpret_cgroups(evidence: Mapping[str, Any]) -> CgroupFacts:
    """CgroupFacts of a snapshot's ``cgroups`` section. A later mount on the same point hides the earlier one."""
    mounts = {mount.mountpoint: mount for mount in map(parse_mount, evidence["mountinfo"])}
    mode, reason = _mode(mounts)
    contradiction = _contradiction(mode, evidence["filesystem_types"])
    if contradiction:
        mode, reason = CgroupMode.UNKNOWN, contradiction
    return CgroupFacts(
        mode=mode,
        reason=reason,
        controllers=_controllers(mode, mounts.values(), evidence["files"]),
        mountpoints={name: mount.mountpoint for mount in mounts.values() for name in mount.controllers},
        trees=tuple(evidence["trees"]),
    )
