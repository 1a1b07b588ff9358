# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroup mode from the mount table and statfs, as runc's IsCgroup2UnifiedMode and systemd decide it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .levels import interpret_levels
from .model import CgroupFacts, CgroupMode, RealtimeThread
from .mounts import Hierarchy, visible

ROOT = "/sys/fs/cgroup"
MAGIC = {"cgroup2": "63677270", "tmpfs": "1021994", "cgroup": "27e0eb"}
"""statfs f_type by filesystem, linux/magic.h."""
NEEDED_V2 = frozenset({"cpu", "cpuset", "memory", "io", "pids"})
NEEDED_V1 = frozenset({"cpu", "cpuacct", "cpuset", "memory", "pids"})
"""Without the first four kubelet does not start, container_manager_linux.go validateSystemRequirements."""


def _below(mounts: Mapping[str, Hierarchy], filesystem: str) -> list[Hierarchy]:
    found = (each for each in mounts.values() if f"{each.mountpoint}/".startswith(ROOT + "/"))
    return [each for each in found if each.filesystem == filesystem]


def _mode(mounts: Mapping[str, Hierarchy], evidence: Mapping[str, Any]) -> tuple[CgroupMode, str]:
    if not evidence.get("mountinfo_read", True):
        return CgroupMode.UNKNOWN, "the mount table could not be read"
    root = mounts.get(ROOT)
    if root is None:
        elsewhere = sorted(each.mountpoint for each in mounts.values() if each.filesystem in ("cgroup", "cgroup2"))
        hint = f"; cgroups are mounted at {elsewhere[0]}" if elsewhere else ""
        return CgroupMode.UNKNOWN, f"nothing is mounted at {ROOT}{hint}"
    if root.filesystem == "cgroup2":
        return CgroupMode.V2, f"cgroup2 is mounted at {ROOT}"
    if not any(each.controllers for each in _below(mounts, "cgroup")):
        return CgroupMode.UNKNOWN, f"{ROOT} is {root.filesystem} and no controller is mounted below it"
    unified = _below(mounts, "cgroup2")
    if unified:
        return CgroupMode.HYBRID, f"controllers are mounted as v1, and {unified[0].mountpoint} is cgroup2 beside them"
    return CgroupMode.V1, f"controllers are mounted as v1 below {ROOT}"


def _contradiction(mode: CgroupMode, mounts: Mapping[str, Hierarchy], types: Mapping[str, str]) -> str | None:
    """Where statfs says another filesystem than the mount table at the root or at hybrid's cgroup2."""
    for mount in [each for each in mounts.values() if each.mountpoint == ROOT or each.filesystem == "cgroup2"]:
        magic, expected = types.get(mount.mountpoint), MAGIC.get(mount.filesystem)
        if mode is not CgroupMode.UNKNOWN and magic and expected and magic != expected:
            return f"the mount table says {mount.filesystem}, statfs says 0x{magic} at {mount.mountpoint}"
    return None


def _words(files: Mapping[str, str], path: str) -> tuple[str, ...]:
    return tuple(files.get(path, "").split())


def _v1_mountpoints(mounts: Mapping[str, Hierarchy]) -> dict[str, str]:
    """Each v1 controller's mountpoint; kubelet takes the shortest, helpers_linux.go getCgroupSubsystemsV1."""
    found: dict[str, str] = {}
    for mount in sorted(mounts.values(), key=lambda each: -len(each.mountpoint)):
        found.update(dict.fromkeys(mount.controllers, mount.mountpoint))
    return dict(sorted(found.items()))


def _split(mode: CgroupMode, v1: Mapping[str, str], v2: Mapping[str, str]) -> dict[str, str]:
    """Controllers that kubelet needs and that are bound to the hierarchy which it does not use, with its mountpoint."""
    if mode is CgroupMode.V2:
        return {name: point for name, point in v1.items() if name in NEEDED_V2 | {"blkio"}}
    return {name: point for name, point in v2.items() if name in NEEDED_V1 | NEEDED_V2 and name not in v1}


def _missing(mode: CgroupMode, mountpoints: Mapping[str, str]) -> tuple[str, ...]:
    needed = {CgroupMode.UNKNOWN: frozenset[str](), CgroupMode.V2: NEEDED_V2}.get(mode, NEEDED_V1)
    return tuple(sorted(needed - mountpoints.keys()))


def _nested(mounts: Mapping[str, Hierarchy], tops: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Why what is mounted is not the top of its hierarchy: kind, k0s in docker, any container.

    A cgroup namespace hides the path; but only cgroups below the top have cgroup.type (v2), and only the top has
    release_agent (v1), kernel/cgroup/cgroup.c and cgroup-v1.c.
    """
    for mount in mounts.values():
        if mount.filesystem in MAGIC and mount.filesystem != "tmpfs" and mount.root != "/":
            return f"{mount.root} of its hierarchy is mounted at {mount.mountpoint}"
        files = tops.get(mount.mountpoint, {}).get("files")
        if not files:
            continue
        if mount.filesystem == "cgroup2" and "cgroup.type" in files:
            return f"{mount.mountpoint} has cgroup.type, which the top of a hierarchy has not"
        if mount.filesystem == "cgroup" and mount.controllers and "release_agent" not in files:
            return f"{mount.mountpoint} lacks release_agent, which the top of a hierarchy has"
    return None


def _realtime(evidence: Mapping[str, Any]) -> tuple[RealtimeThread, ...]:
    threads = (evidence.get("realtime") or {}).get("threads", ())
    names = ("pid", "tid", "comm", "policy", "priority", "cgroup")
    return tuple(RealtimeThread(*(each.get(name) for name in names)) for each in threads)


def interpret_cgroups(evidence: Mapping[str, Any]) -> CgroupFacts:
    """CgroupFacts of a snapshot's ``cgroups`` section. Of hierarchies that are not in force only a split is told."""
    mounts, files = visible(evidence["mountinfo"]), evidence["files"]
    mode, reason = _mode(mounts, evidence)
    contradiction = _contradiction(mode, mounts, evidence["filesystem_types"])
    if contradiction:
        mode, reason = CgroupMode.UNKNOWN, contradiction
    v1 = _v1_mountpoints(mounts)
    v2 = {
        name: mount.mountpoint
        for mount in _below(mounts, "cgroup2")
        for name in _words(files, mount.mountpoint + "/cgroup.controllers")
    }
    in_force = v2 if mode is CgroupMode.V2 else v1
    told = mode is not CgroupMode.V2 or ROOT + "/cgroup.controllers" in files
    realtime = evidence.get("realtime") or {}
    return CgroupFacts(
        mode=mode,
        reason=reason,
        controllers=tuple(in_force),
        mountpoints=in_force,
        trees=tuple(evidence["trees"]),
        hierarchies=tuple(each for each in mounts.values() if each.filesystem in ("cgroup", "cgroup2")),
        missing=_missing(mode, in_force) if told else (),
        split=_split(mode, v1, v2) if mode is not CgroupMode.UNKNOWN else {},
        levels=interpret_levels(files, NEEDED_V2) if mode is CgroupMode.V2 else (),
        idle=tuple(path for path, text in files.items() if path.endswith("/cpu.idle") and text.strip() == "1"),
        nested=_nested(mounts, evidence.get("tops", {})),
        links=dict(evidence.get("links", {})),
        realtime=_realtime(evidence),
        group_scheduling=realtime.get("group_scheduling"),
        reserved=evidence.get("reserved"),
        pods=dict(evidence.get("pods", {})),
        reserved_controllers={
            path: tuple(text.split()) for path, text in (evidence.get("reserved_controllers") or {}).items()
        },
    )
