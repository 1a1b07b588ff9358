# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about cgroups: mounts, the top of each hierarchy, the levels of kubelet's tree, reserved cgroups.

Real-time threads outside the root cgroup keep the cpu controller from being enabled on v2. The cgroups that kubelet's
configuration names for reservations are never created by kubelet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..cgroup import container_paths
from ..cgroup.hierarchy import ROOT, cgroup_mounts, parse_mount
from ..cgroup.kubelet_names import qos_classes, reserved_paths
from ..host import Host
from .file_evidence import describe, kernel_text, list_names
from .kubelet_files import hints
from .process_evidence import command_line_option

REAL_TIME = {"1": "FIFO", "2": "RR"}
"""SCHED_FIFO and SCHED_RR of linux/sched.h."""
TASK_LIMIT = 20000
THREAD_LIMIT = 20
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of linux/sched.h in field 9; kernel threads stay in the root cgroup."""


def _stat_fields(host: Host, path: str) -> list[str]:
    """Fields from 3 on of a stat file, proc(5); empty if the task ended. The name may have spaces and brackets."""
    fields = (kernel_text(host, path) or "").rpartition(")")[2].split()
    return fields if len(fields) > 38 else []


def _user_processes(host: Host) -> Iterator[tuple[str, int]]:
    for pid in list_names(host, "/proc"):
        fields = _stat_fields(host, "/proc/%s/stat" % pid) if pid.isdigit() else []
        if fields and not int(fields[6]) & _KERNEL_THREAD:
            yield pid, int(fields[17])


def _thread(host: Host, pid: str, tid: str) -> dict[str, Any] | None:
    fields = _stat_fields(host, "/proc/%s/task/%s/stat" % (pid, tid))
    if not fields or fields[38] not in REAL_TIME:
        return None
    cgroup = kernel_text(host, "/proc/%s/task/%s/cgroup" % (pid, tid)) or ""
    path = next((line[3:] for line in cgroup.splitlines() if line.startswith("0::")), "/")
    if path == "/":
        return None
    return {
        "pid": int(pid),
        "tid": int(tid),
        "comm": kernel_text(host, "/proc/%s/task/%s/comm" % (pid, tid)),
        "policy": REAL_TIME[fields[38]],
        "priority": int(fields[37]),
        "cgroup": path,
    }


def _scan_threads(host: Host) -> tuple[list[dict[str, Any]], int]:
    threads, scanned = [], 0
    for pid, count in _user_processes(host):
        tids = [pid] if count == 1 else list_names(host, "/proc/%s/task" % pid)
        for tid in tids:
            scanned += 1
            thread = _thread(host, pid, tid)
            if thread:
                threads.append(thread)
            if scanned >= TASK_LIMIT or len(threads) >= THREAD_LIMIT:
                return threads, scanned
    return threads, scanned


def _group_scheduling(host: Host) -> str | None:
    """``y`` or ``n`` for CONFIG_RT_GROUP_SCHED from the kernel's build configuration; None when it cannot be read."""
    release = kernel_text(host, "/proc/sys/kernel/osrelease")
    for path in ("/boot/config-%s" % release, "/lib/modules/%s/config" % release):
        text = kernel_text(host, path)
        if text is not None:
            return "y" if re.search("^CONFIG_RT_GROUP_SCHED=y$", text, re.MULTILINE) else "n"
    return None


def realtime_threads(host: Host) -> dict[str, Any]:
    """``{threads, seen, group_scheduling}``. Reads one file for each thread; called only when cpu is not enabled."""
    threads, scanned = _scan_threads(host)
    return {"threads": threads, "seen": scanned, "group_scheduling": _group_scheduling(host)}


RESERVED_FLAGS = ("--system-reserved-cgroup", "--kube-reserved-cgroup")
RESERVED_FIELDS = ("systemReservedCgroup", "kubeReservedCgroup")
RESERVED_LIMIT = 20


def reserved_names(kubelet: Mapping[str, Any]) -> list[str]:
    """The values of the two fields and flags anywhere in kubelet's files and command line."""
    lines = [process["argv"] for process in kubelet["processes"]]
    flags = [value for argv in lines for value in (command_line_option(argv, flag) for flag in RESERVED_FLAGS) if value]
    texts = [file["text"] for file in kubelet["files"].values() if "text" in file]
    return sorted({*flags, *(value for text in texts for _name, value in hints(text, *RESERVED_FIELDS))})[
        :RESERVED_LIMIT
    ]


def reserved_cgroups(
    host: Host, points: Iterable[str], kubelet: Mapping[str, Any], names: Iterable[str] = ()
) -> dict[str, list[str]]:
    """By path of a cgroup that kubelet or ``names`` names: mount points of the hierarchies in which it exists."""
    points = sorted(points)
    paths = sorted({path for name in (*reserved_names(kubelet), *names) for path in reserved_paths(name)})
    return {
        path: [point for point in points if describe(host, "%s/%s" % (point, path))["kind"] == "directory"]
        for path in paths
    }


def available_controllers(host: Host, points_by_path: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """By path: the text of cgroup.controllers of a cgroup in a v2 hierarchy."""
    texts = {
        path: kernel_text(host, "%s/%s/cgroup.controllers" % (point, path))
        for path, points in points_by_path.items()
        for point in points
    }
    return {path: text for path, text in texts.items() if text is not None}


MOUNT_LIMIT = 256
"""Mount lines that are collected. A node has 1 to 15, or thousands if mounts leaked from containers."""
NAME_LIMIT = 200
"""Directory names that are collected from the top of one hierarchy."""

_LEVEL_FILES = ("cgroup.controllers", "cgroup.subtree_control", "cgroup.type")
_KERNEL_FILE = re.compile(
    r"(?:cgroup|cpu|cpuacct|cpuset|memory|io|blkio|pids|hugetlb|devices|freezer|net_cls|net_prio|rdma|misc|perf_event"
    r"|irq|files|dmem|debug)\.(?!slice$|service$|scope$|mount$|socket$|swap$)|(?:tasks|notify_on_release|release_agent)$"
)
_USUAL = ("system.slice", "kubepods.slice", "kubepods", "init.scope")
_TREES = ("kubepods", "kubepods.slice", "kubelet/kubepods", "kubelet.slice/kubelet-kubepods.slice")
"""kubelet's default paths, and those of kind (cgroupRoot /kubelet)."""


def _filesystem_types(host: Host, paths: list[str]) -> dict[str, str]:
    """statfs f_type in hexadecimal by path, from stat(1), because Python has no call for it."""
    if not host.live or not paths:
        return {}
    result = host.run(["stat", "--file-system", "--format=%t %n", "--", *paths])
    return {
        path: magic
        for magic, separator, path in (line.partition(" ") for line in result.stdout.splitlines())
        if separator
    }


def _top(host: Host, point: str) -> dict[str, list[str]]:
    """``files`` and ``folders`` of a hierarchy's top, classified by name to avoid a stat call for each entry."""
    names = list_names(host, point)
    files = [name for name in names if _KERNEL_FILE.match(name)]
    directories = [name for name in names if not _KERNEL_FILE.match(name)]
    return {"files": files, "folders": directories[:NAME_LIMIT]}


def _probe(host: Host, point: str, top: Mapping[str, list[str]]) -> dict[str, Any]:
    """The kernel files of one cgroup below the top, which has more of them; of the top if it has no child."""
    candidates = [name for name in _USUAL if name in top["folders"]] or top["folders"]
    if not candidates:
        return {"cgroup": point, "files": top["files"]}
    directory = "%s/%s" % (point, candidates[0])
    return {"cgroup": directory, "files": [name for name in list_names(host, directory) if _KERNEL_FILE.match(name)]}


def live_trees(containers: Iterable[str]) -> list[str]:
    """The trees of running containers, as paths in their hierarchy: cgroupRoot can be any path."""
    paths = {path for text in containers for path in container_paths.paths(text).values()}
    cgroup_paths = (container_paths.classify(path) for path in paths)
    return sorted({cgroup.pods for cgroup in cgroup_paths if cgroup is not None})


def _trees(host: Host, points: Sequence[str], containers: Iterable[str]) -> list[str]:
    """Absolute paths of kubelet's trees that exist, in all hierarchies."""
    places = list(_TREES) + [tree for tree in live_trees(containers) if tree not in _TREES][:8]
    paths = ["%s/%s" % (point, place) for point in points for place in places]
    return [path for path in paths if describe(host, path)["kind"] == "directory"]


def _count_pods(host: Host, tree: str) -> int:
    """The number of pods that have a directory in a tree, over all QoS classes."""
    parents = (tree, *qos_classes(tree))
    return sum(bool(container_paths.pod_uid(parent, name)) for parent in parents for name in list_names(host, parent))


def _texts(host: Host, paths: Iterable[str]) -> dict[str, str]:
    texts = {path: kernel_text(host, path) for path in paths}
    return {path: text for path, text in texts.items() if text is not None}


def _parents(tree: str, points: Iterable[str]) -> list[str]:
    """The cgroups between a hierarchy's top and a tree: empty unless cgroupRoot is set."""
    top = next(point for point in points if tree.startswith(point + "/"))
    parts = tree[len(top) + 1 :].split("/")[:-1]
    return ["/".join([top, *parts[: count + 1]]) for count in range(len(parts))]


def _level_files(host: Host, points: Mapping[str, str], trees: Sequence[str]) -> dict[str, str]:
    """By path: controllers of the root, of kubelet's trees and their QoS classes, and cpu.idle of the classes."""
    levels = [directory for tree in trees for directory in (*_parents(tree, points), tree, *qos_classes(tree))]
    unified = [point for point, filesystem in points.items() if filesystem == "cgroup2"]
    in_unified = [directory for directory in levels if any(directory.startswith(point + "/") for point in unified)]
    paths = ["%s/%s" % (directory, name) for directory in unified + in_unified for name in _LEVEL_FILES]
    return _texts(host, paths + [directory + "/cpu.idle" for directory in levels])


def _links(host: Host) -> dict[str, str]:
    """Symlinks beside the v1 hierarchies, such as cpu -> cpu,cpuacct."""
    entries = {name: describe(host, "%s/%s" % (ROOT, name)) for name in list_names(host, ROOT)[:NAME_LIMIT]}
    return {name: entry["target"] for name, entry in entries.items() if "target" in entry}


def _is_cpu_blocked(files: Mapping[str, str]) -> bool:
    """Whether cpu is available at the top of a v2 tree but not enabled below it, which real-time threads cause."""
    enabled = files.get(ROOT + "/cgroup.subtree_control")
    offered = files.get(ROOT + "/cgroup.controllers", "").split()
    return enabled is not None and "cpu" in offered and "cpu" not in enabled.split()


def cgroups(host: Host, containers: Iterable[str]) -> dict[str, Any]:
    """Mounts, statfs types, tops, trees, controller files; ``containers`` are cgroup texts of container processes."""
    mountinfo = kernel_text(host, "/proc/self/mountinfo")
    lines = [line for line in cgroup_mounts(mountinfo or "") if parse_mount(line)][:MOUNT_LIMIT]
    mounts = {mount.mountpoint: mount.filesystem for mount in filter(None, map(parse_mount, lines))}
    points = {point: kind for point, kind in mounts.items() if kind in ("cgroup", "cgroup2") and point[:1] == "/"}
    tops = {point: _top(host, point) for point in sorted(points)}
    trees = _trees(host, sorted(points), containers)
    files = _level_files(host, points, trees)
    return {
        "mountinfo": lines,
        "mountinfo_read": mountinfo is not None,
        "filesystem_types": _filesystem_types(host, sorted(mounts)),
        "files": files,
        "trees": trees,
        "pods": {tree: _count_pods(host, tree) for tree in trees},
        "tops": tops,
        "probes": {point: _probe(host, point, top) for point, top in tops.items()},
        "links": _links(host) if mounts.get(ROOT) != "cgroup2" else {},
        "own": kernel_text(host, "/proc/self/cgroup"),
        "init": kernel_text(host, "/proc/1/cgroup"),
        "kernel": kernel_text(host, "/proc/cgroups"),
        "realtime": realtime_threads(host) if _is_cpu_blocked(files) else None,
    }
