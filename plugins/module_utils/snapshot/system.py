# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the machine: kernel, PID 1, CPUs, and how cgroups are mounted."""

from __future__ import annotations

import re
import time
from typing import Any

from ..host import Host
from .files import kernel_text

CGROUP_ROOT = "/sys/fs/cgroup"
_TREES = ("", "/kubepods", "/kubepods.slice")
_LEVEL_FILES = ("cgroup.controllers", "cgroup.subtree_control", "cgroup.type")
_CGROUP_MOUNT = re.compile(r" - cgroup2? | %s(/\S*)? .* - tmpfs " % re.escape(CGROUP_ROOT))


def machine(host: Host) -> dict[str, Any]:
    """Kernel, PID 1, boot and distribution, each as the kernel or the file prints it."""
    return {
        "hostname": kernel_text(host, "/proc/sys/kernel/hostname"),
        "kernel_release": kernel_text(host, "/proc/sys/kernel/osrelease"),
        "kernel_command_line": kernel_text(host, "/proc/cmdline"),
        "boot_id": kernel_text(host, "/proc/sys/kernel/random/boot_id"),
        "booted_at": booted_at(kernel_text(host, "/proc/uptime"), time.time()),
        "pid1": kernel_text(host, "/proc/1/comm"),
        "os_release": kernel_text(host, "/etc/os-release"),
    }


def booted_at(proc_uptime: str | None, now: float) -> float | None:
    """Seconds since the epoch at which the kernel started; btime of /proc/stat is rounded to a whole second."""
    return now - float(proc_uptime.split()[0]) if proc_uptime else None


def cpus(host: Host) -> dict[str, Any]:
    """CPU lists as the kernel prints them (``0-3,8``): online, and per online NUMA node."""
    nodes = {}
    for name in host.list("/sys/devices/system/node"):
        if re.match(r"node\d+$", name):
            nodes[name[4:]] = kernel_text(host, "/sys/devices/system/node/%s/cpulist" % name)
    return {"online": kernel_text(host, "/sys/devices/system/cpu/online"), "numa": nodes}


def cgroup_mounts(mountinfo: str) -> list[str]:
    """The lines of mountinfo that say how cgroups are mounted, in mount order."""
    return [line for line in mountinfo.splitlines() if _CGROUP_MOUNT.search(line)]


def _mountpoints(lines: list[str]) -> list[str]:
    return [line.split()[4] for line in lines]


def _filesystem_types(host: Host, paths: list[str]) -> dict[str, str]:
    """statfs f_type in hexadecimal per path: Python has no call that gives it, stat(1) does."""
    if not host.live or not paths:
        return {}
    answer = host.run(["stat", "--file-system", "--format=%t %n", *paths])
    return {path: magic for magic, path in (line.split(" ", 1) for line in answer.stdout.splitlines())}


def cgroups(host: Host) -> dict[str, Any]:
    """Mount lines, statfs types and the controller files of the root and of kubelet's two possible trees."""
    lines = cgroup_mounts(kernel_text(host, "/proc/self/mountinfo") or "")
    levels = {}
    for tree in _TREES:
        for name in _LEVEL_FILES:
            path = "%s%s/%s" % (CGROUP_ROOT, tree, name)
            text = kernel_text(host, path)
            if text is not None:
                levels[path] = text
    return {
        "mountinfo": lines,
        "filesystem_types": _filesystem_types(host, sorted(set(_mountpoints(lines)))),
        "files": levels,
        "trees": _trees(host, lines),
    }


def _trees(host: Host, lines: list[str]) -> list[str]:
    """Which of kubelet's trees exist, as absolute folders, in every hierarchy."""
    found = []
    for mountpoint in sorted(set(_mountpoints(lines))):
        names = set(host.list(mountpoint))
        found += ["%s/%s" % (mountpoint, tree) for tree in ("kubepods", "kubepods.slice") if tree in names]
    return found
