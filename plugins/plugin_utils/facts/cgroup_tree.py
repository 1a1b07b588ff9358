# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroup mode, the controllers that each level of the tree enables, and the cgroups in which containers run.

The mount table and statfs decide the mode, as in runc's IsCgroup2UnifiedMode and in systemd.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.cgroup.container_paths import PODS, decisive_path, driver_of
from ...module_utils.cgroup.hierarchy import (
    NEEDED_V2,
    ROOT,
    Hierarchy,
    controllers_elsewhere,
    mode_of,
    mounts_below_root,
    v1_points,
    visible_mounts,
)
from ...module_utils.cgroup.kubelet_names import Driver
from .node_state import CgroupFacts, CgroupMode, Claim, Level, PodFacts, RealtimeThread

_CONTROLLERS_FILE = "/cgroup.controllers"
_SUBTREE_CONTROL_FILE = "/cgroup.subtree_control"


def _is_empty_qos_class(cgroup: str, enabled: tuple[str, ...]) -> bool:
    """Whether a QoS class has no pods: it enables no controllers for its children and does not need to."""
    return not enabled and cgroup.removesuffix(".slice").endswith(("burstable", "besteffort"))


def _read_level(cgroup: str, files: Mapping[str, str], needed: frozenset[str]) -> Level:
    enabled = tuple(files[cgroup + _SUBTREE_CONTROL_FILE].split())
    return Level(
        path=cgroup,
        controllers=tuple(files.get(cgroup + _CONTROLLERS_FILE, "").split()),
        enabled=enabled,
        missing=() if _is_empty_qos_class(cgroup, enabled) else tuple(sorted(needed - set(enabled))),
        kind=files.get(cgroup + "/cgroup.type"),
    )


def interpret_levels(files: Mapping[str, str], needed: frozenset[str]) -> tuple[Level, ...]:
    """The levels whose cgroup.subtree_control is in the snapshot, the root first."""
    cgroups = sorted(path[: -len(_SUBTREE_CONTROL_FILE)] for path in files if path.endswith(_SUBTREE_CONTROL_FILE))
    return tuple(_read_level(cgroup, files, needed) for cgroup in cgroups)


MAGIC = {"cgroup2": "63677270", "tmpfs": "1021994", "cgroup": "27e0eb"}
"""statfs f_type by filesystem, linux/magic.h."""
NEEDED_V1 = frozenset({"cpu", "cpuacct", "cpuset", "memory", "pids"})
"""Without the first four kubelet does not start, container_manager_linux.go validateSystemRequirements."""


def _contradiction(mode: CgroupMode, mounts: Mapping[str, Hierarchy], types: Mapping[str, str]) -> str | None:
    """How statfs contradicts the mount table, at the root or at hybrid mode's cgroup2 mount; None if it does not."""
    for mount in [
        hierarchy for hierarchy in mounts.values() if hierarchy.mountpoint == ROOT or hierarchy.filesystem == "cgroup2"
    ]:
        magic, expected = types.get(mount.mountpoint), MAGIC.get(mount.filesystem)
        if mode is not CgroupMode.UNKNOWN and magic and expected and magic != expected:
            return f"the mount table says {mount.filesystem}, statfs says 0x{magic} at {mount.mountpoint}"
    return None


def _read_words(files: Mapping[str, str], path: str) -> tuple[str, ...]:
    return tuple(files.get(path, "").split())


def _missing_controllers(mode: CgroupMode, mountpoints: Mapping[str, str]) -> tuple[str, ...]:
    needed = {CgroupMode.UNKNOWN: frozenset[str](), CgroupMode.V2: NEEDED_V2}.get(mode, NEEDED_V1)
    return tuple(sorted(needed - mountpoints.keys()))


def _nesting_reason(mounts: Mapping[str, Hierarchy], tops: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Why a mount is not the root of its hierarchy (kind, k0s in docker, any container); None if all are roots.

    A cgroup namespace hides the path. But only cgroups below the root have cgroup.type (v2), and only the root has
    release_agent (v1): kernel/cgroup/cgroup.c and cgroup-v1.c.
    """
    for mount in mounts.values():
        if mount.filesystem in MAGIC and mount.filesystem != "tmpfs" and mount.root != "/":
            return f"{mount.root} of its hierarchy is mounted at {mount.mountpoint}"
        files = tops.get(mount.mountpoint, {}).get("files")
        if not files:
            continue
        if mount.filesystem == "cgroup2" and "cgroup.type" in files:
            return f"{mount.mountpoint} has cgroup.type, which the root of a hierarchy does not have"
        if mount.filesystem == "cgroup" and mount.controllers and "release_agent" not in files:
            return f"{mount.mountpoint} has no release_agent, which the root of a hierarchy has"
    return None


def _realtime_threads(evidence: Mapping[str, Any]) -> tuple[RealtimeThread, ...]:
    threads = (evidence.get("realtime") or {}).get("threads", ())
    names = ("pid", "tid", "comm", "policy", "priority", "cgroup")
    return tuple(RealtimeThread(*(thread.get(name) for name in names)) for thread in threads)


def interpret_cgroups(evidence: Mapping[str, Any]) -> CgroupFacts:
    """CgroupFacts of a snapshot's ``cgroups`` section. Only ``split`` reports hierarchies that are not in effect."""
    mounts, files = visible_mounts(evidence["mountinfo"]), evidence["files"]
    mode, reason = CgroupMode.UNKNOWN, "the mount table could not be read"
    if evidence.get("mountinfo_read", True):
        word, reason = mode_of(mounts)
        mode = CgroupMode(word)
    contradiction = _contradiction(mode, mounts, evidence["filesystem_types"])
    if contradiction:
        mode, reason = CgroupMode.UNKNOWN, contradiction
    v1 = v1_points(mounts)
    v2 = {
        name: mount.mountpoint
        for mount in mounts_below_root(mounts, "cgroup2")
        for name in _read_words(files, mount.mountpoint + "/cgroup.controllers")
    }
    mountpoints = v2 if mode is CgroupMode.V2 else v1
    controllers_known = mode is not CgroupMode.V2 or ROOT + "/cgroup.controllers" in files
    realtime = evidence.get("realtime") or {}
    return CgroupFacts(
        mode=mode,
        reason=reason,
        controllers=tuple(mountpoints),
        mountpoints=mountpoints,
        trees=tuple(evidence["trees"]),
        hierarchies=tuple(hierarchy for hierarchy in mounts.values() if hierarchy.filesystem in ("cgroup", "cgroup2")),
        missing=_missing_controllers(mode, mountpoints) if controllers_known else (),
        split=controllers_elsewhere(mode.value, v1, v2) if mode is not CgroupMode.UNKNOWN else {},
        levels=interpret_levels(files, NEEDED_V2) if mode is CgroupMode.V2 else (),
        idle=tuple(path for path, text in files.items() if path.endswith("/cpu.idle") and text.strip() == "1"),
        nested=_nesting_reason(mounts, evidence.get("tops", {})),
        links=dict(evidence.get("links", {})),
        realtime=_realtime_threads(evidence),
        group_scheduling=realtime.get("group_scheduling"),
        reserved=evidence.get("reserved"),
        pods=dict(evidence.get("pods", {})),
        reserved_controllers={
            path: tuple(text.split()) for path, text in (evidence.get("reserved_controllers") or {}).items()
        },
    )


def interpret_pods(containers: Mapping[str, int], cri: Mapping[str, Any]) -> tuple[PodFacts, list[Claim]]:
    """PodFacts, and the driver that cgroup paths show. Other runtimes' containers outside kubepods do not count."""
    drivers = [(path, driver_of(path)) for path in sorted(map(decisive_path, containers))]
    systemd = [path for path, driver in drivers if driver is Driver.SYSTEMD]
    cgroupfs = [path for path, driver in drivers if driver is Driver.CGROUPFS]
    misplaced = [path for path, driver in drivers if driver is None and PODS in path]
    pods = PodFacts(
        sandboxes=sum(sandbox["ready"] for sandbox in cri.get("sandboxes", [])),
        containers=sum(container["running"] for container in cri.get("containers", [])),
        systemd_paths=len(systemd),
        cgroupfs_paths=len(cgroupfs),
        misplaced_paths=tuple(misplaced),
    )
    claims = []
    for value, paths in (("systemd", systemd), ("cgroupfs", cgroupfs), ("neither", misplaced)):
        if paths:
            claims.append(Claim("cgroupDriver", value, f"{len(paths)} running container(s), such as {paths[0]}"))
    return pods, claims
