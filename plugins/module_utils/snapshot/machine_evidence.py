# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the machine: kernel, PID 1, boot, distribution, file systems, CPUs, and kernel features."""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import Any, Iterable

from ..host import Host
from .file_evidence import capture, kernel_text, list_names

SYSTEM_PATHS = ("/", "/usr", "/etc", "/var")
UNITS, ENGINE, STATE = CHANGED_PATHS = (
    "/etc/systemd/system",
    "/usr/local/lib/volcano-colocation",
    "/var/lib/volcano-colocation",
)
"""Every change of services writes here: the unit that rolls it back at boot, the engine, the journal with backups."""

MEMORY = ("tmpfs", "ramfs")
VOLATILE_DIRECTORY = "/run/"
_OCTAL = re.compile(r"\\([0-7]{3})")


def filesystems(host: Host) -> dict[str, dict[str, Any]]:
    """``{path: {leads_to, mount, type, read_only, volatile}}`` of the file system that each path is on.

    ``volatile``: its content is in memory. Links are followed; paths with an unknown mount are omitted.
    """
    mounts = list(filter(None, map(_parse, (kernel_text(host, "/proc/self/mountinfo") or "").splitlines())))
    filesystems_by_path = {}
    for path in SYSTEM_PATHS + CHANGED_PATHS:
        try:
            target = _resolve(host, path)
        except (OSError, ValueError):
            continue
        mount = covering_mount(mounts, target)
        if mount is not None:
            filesystems_by_path[path] = {"leads_to": target, **mount}
    return filesystems_by_path


def covering_mount(mounts: Iterable[dict[str, Any]], path: str) -> dict[str, Any] | None:
    """The mount of a path without links: the longest mount point; of two mounts on one point, the later."""
    covering = None
    for mount in mounts:
        point = mount["mount"]
        covers = point in ("/", path) or path.startswith(point + "/")
        # A mount of the initramfs can precede the mount of / itself.
        if covers and (covering is None or len(point) >= len(covering["mount"])):
            covering = mount
    return covering


def _resolve(host: Host, path: str) -> str:
    if host.live:
        return os.path.realpath(path)
    return host.real_path(path)[len(host.root) :] or "/"


def _parse(line: str) -> dict[str, Any] | None:
    """A line of mountinfo, proc(5): its fifth and sixth fields, and type and super block options after the dash."""
    before, _separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ", 2)
    if len(fields) < 6 or len(tail) < 3:
        return None
    options = tail[2].split(",")
    return {
        "mount": _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4]),
        "type": tail[0],
        "read_only": "ro" in fields[5].split(",") or "ro" in options,
        "volatile": tail[0] in MEMORY or _is_in_memory(options),
    }


def _is_in_memory(options: list[str]) -> bool:
    """Whether an overlay stores writes in a directory below /run, as systems with a temporary /etc do."""
    return any(option.startswith("upperdir=") and option[9:].startswith(VOLATILE_DIRECTORY) for option in options)


def identity(host: Host) -> dict[str, Any]:
    """What identifies the machine and its boot."""
    return {
        "hostname": kernel_text(host, "/proc/sys/kernel/hostname"),
        "machine_id_sha256": machine_id_sha256(host),
        "boot_id": kernel_text(host, "/proc/sys/kernel/random/boot_id"),
    }


def machine(host: Host) -> dict[str, Any]:
    """Kernel, PID 1, boot and distribution, as unparsed texts."""
    return {
        **identity(host),
        "kernel_release": kernel_text(host, "/proc/sys/kernel/osrelease"),
        "kernel_command_line": kernel_text(host, "/proc/cmdline"),
        "booted_at": booted_at(kernel_text(host, "/proc/uptime"), time.time()),
        "pid1": kernel_text(host, "/proc/1/comm"),
        **system_evidence(host),
        "swaps": kernel_text(host, "/proc/swaps"),
    }


def system_evidence(host: Host) -> dict[str, Any]:
    """Evidence of whether files of this system can be changed: its name and its mounts."""
    return {
        "os_release": os_release(host),
        "outer_os_release": kernel_text(host, OUTER_OS_RELEASE),
        "filesystems": filesystems(host),
    }


OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
"""The second is read if the first is missing: os-release(5)."""
OUTER_OS_RELEASE = "/.bottlerocket/rootfs/usr/lib/os-release"
"""Bottlerocket allows logins only in containers, where it mounts its own root."""


def os_release(host: Host) -> str | None:
    """The text that names the operating system."""
    texts = (kernel_text(host, path) for path in OS_RELEASE)
    return next((text for text in texts if text is not None), None)


MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
"""cAdvisor reads the first existing one for a Node's status.nodeInfo.machineID: machine/info.go, machine_id_file."""


def machine_id_sha256(host: Host) -> str | None:
    """A hash that identifies the machine: the machine ID itself must stay confidential, machine-id(5)."""
    for path in MACHINE_IDS:
        text = (kernel_text(host, path) or "").strip()
        if text:
            return hashlib.sha256(text.encode()).hexdigest()
    return None


def booted_at(proc_uptime: str | None, now: float) -> float | None:
    """Seconds since the epoch at which the kernel started; btime of /proc/stat is rounded to a whole second."""
    try:
        return now - float(proc_uptime.split()[0]) if proc_uptime else None
    except (ValueError, IndexError):
        return None


_CPU_DIRECTORY = "/sys/devices/system/cpu"
_CPU_LIMIT = 4096
"""The number of files of one kind that are read; each CPU has one."""


def _siblings(host: Host) -> list[str]:
    """The sets of hardware threads that share a core, as the kernel prints them. Offline CPUs have no topology."""
    return _topology(host, "thread_siblings_list")


def _topology(host: Host, file: str) -> list[str]:
    """The distinct values of one topology file over all CPUs."""
    names = [name for name in list_names(host, _CPU_DIRECTORY) if re.match(r"cpu\d+$", name)]
    paths = ["%s/%s/topology/%s" % (_CPU_DIRECTORY, name, file) for name in names[:_CPU_LIMIT]]
    return sorted({text for text in (kernel_text(host, path) for path in paths) if text})


def _numa(host: Host) -> dict[str, str | None]:
    directory = "/sys/devices/system/node"
    names = [name for name in list_names(host, directory) if re.match(r"node\d+$", name)]
    return {name[4:]: kernel_text(host, "%s/%s/cpulist" % (directory, name)) for name in names}


def cpus(host: Host) -> dict[str, Any]:
    """CPU lists as the kernel prints them (``0-3,8``), SMT's state, and a list per NUMA node."""
    lists = {
        name: kernel_text(host, "%s/%s" % (_CPU_DIRECTORY, name))
        for name in ("online", "offline", "present", "isolated")
    }
    smt = kernel_text(host, _CPU_DIRECTORY + "/smt/active")
    return {
        **lists,
        "numa": _numa(host),
        "sockets": _topology(host, "physical_package_id"),
        "smt_active": smt,
        # Without SMT each CPU is its own only sibling.
        "siblings": [] if smt == "0" else _siblings(host),
    }


SYSCTLS = (
    "/proc/sys/vm/memcg_qos_enable",
    "/proc/sys/kernel/sched_prio_load_balance_enabled",
    "/proc/sys/kernel/sched_group_identity_enabled",
    "/proc/sys/kernel/sched_core",
)
"""Sysctls of openEuler and Anolis kernels; other kernels do not have these files."""
RESCTRL = "/sys/fs/resctrl"
SYSCTLS_FILE = "/etc/sysctl.d/90-volcano-colocation-agent.conf"
"""The role agent's file of sysctls that are enabled at each boot."""


def kernel(host: Host) -> dict[str, Any]:
    """``pressure`` is None where PSI is off or absent: older kernels create the file but reading it fails."""
    filesystems = kernel_text(host, "/proc/filesystems")
    return {
        "pressure": kernel_text(host, "/proc/pressure/cpu"),
        "sysctls": {path: kernel_text(host, path) for path in SYSCTLS},
        "switches_file": capture(host, SYSCTLS_FILE),
        "resctrl": {
            "known": None if filesystems is None else "resctrl" in filesystems.split(),
            "files": list_names(host, RESCTRL)[:50],
        },
    }
