# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the machine: kernel, PID 1, boot, distribution, file systems, CPUs, and what the kernel can do."""

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
"""What every change of services writes to: the unit that undoes it at boot, the engine, the journal with backups."""

MEMORY = ("tmpfs", "ramfs")
VOLATILE_DIRECTORY = "/run/"
_OCTAL = re.compile(r"\\([0-7]{3})")


def filesystems(host: Host) -> dict[str, dict[str, Any]]:
    """``{path: {leads_to, mount, type, read_only, volatile}}`` of the file system that each path is on.

    ``volatile``: its content is kept in memory. Links are followed; paths whose mount is not known are left out.
    """
    mounts = list(filter(None, map(_parse, (kernel_text(host, "/proc/self/mountinfo") or "").splitlines())))
    found = {}
    for path in SYSTEM_PATHS + CHANGED_PATHS:
        try:
            target = _resolve(host, path)
        except (OSError, ValueError):
            continue
        mount = covering_mount(mounts, target)
        if mount is not None:
            found[path] = {"leads_to": target, **mount}
    return found


def covering_mount(mounts: Iterable[dict[str, Any]], path: str) -> dict[str, Any] | None:
    """The mount that a path without links is on: the longest mount point, of two on one point the later."""
    found = None
    for mount in mounts:
        point = mount["mount"]
        covers = point in ("/", path) or path.startswith(point + "/")
        # Their order says nothing of / itself: what the initramfs mounted comes before it.
        if covers and (found is None or len(point) >= len(found["mount"])):
            found = mount
    return found


def _resolve(host: Host, path: str) -> str:
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
        "volatile": tail[0] in MEMORY or _is_in_memory(options),
    }


def _is_in_memory(options: list[str]) -> bool:
    """Whether an overlay keeps what is written in a directory of /run, as systems with a temporary /etc do."""
    return any(each.startswith("upperdir=") and each[9:].startswith(VOLATILE_DIRECTORY) for each in options)


def identity(host: Host) -> dict[str, Any]:
    """What tells the machine and its boot from all others."""
    return {
        "hostname": kernel_text(host, "/proc/sys/kernel/hostname"),
        "machine_id_sha256": machine_id_sha256(host),
        "boot_id": kernel_text(host, "/proc/sys/kernel/random/boot_id"),
    }


def machine(host: Host) -> dict[str, Any]:
    """Kernel, PID 1, boot and distribution, each as the kernel or the file prints it."""
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
    """Evidence of whether files of this system may be changed: its name, and how its file systems are mounted."""
    return {
        "os_release": os_release(host),
        "outer_os_release": kernel_text(host, OUTER_OS_RELEASE),
        "filesystems": filesystems(host),
    }


OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
"""The second counts where the first is missing: os-release(5)."""
OUTER_OS_RELEASE = "/.bottlerocket/rootfs/usr/lib/os-release"
"""Bottlerocket lets people into containers only, and mounts its own root there."""


def os_release(host: Host) -> str | None:
    """The text that names the operating system."""
    texts = (kernel_text(host, path) for path in OS_RELEASE)
    return next((text for text in texts if text is not None), None)


MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
"""cAdvisor reads the first that is there for a Node's status.nodeInfo.machineID: machine/info.go, machine_id_file."""


def machine_id_sha256(host: Host) -> str | None:
    """A hash that tells the machine from others: its id itself is not for everybody to see, machine-id(5)."""
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
"""Files of one kind read at most: they are one a CPU."""


def _siblings(host: Host) -> list[str]:
    """Each set of hardware threads that share a core, as the kernel prints it. Offline CPUs have no topology."""
    return _topology(host, "thread_siblings_list")


def _topology(host: Host, file: str) -> list[str]:
    """The different words of all CPUs in one file of their topology."""
    found = [name for name in list_names(host, _CPU_DIRECTORY) if re.match(r"cpu\d+$", name)]
    paths = ["%s/%s/topology/%s" % (_CPU_DIRECTORY, name, file) for name in found[:_CPU_LIMIT]]
    return sorted({text for text in (kernel_text(host, path) for path in paths) if text})


def _numa(host: Host) -> dict[str, str | None]:
    directory = "/sys/devices/system/node"
    found = [name for name in list_names(host, directory) if re.match(r"node\d+$", name)]
    return {name[4:]: kernel_text(host, "%s/%s/cpulist" % (directory, name)) for name in found}


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
        # Without SMT each CPU is its own only sibling: nothing to read.
        "siblings": [] if smt == "0" else _siblings(host),
    }


SYSCTLS = (
    "/proc/sys/vm/memcg_qos_enable",
    "/proc/sys/kernel/sched_prio_load_balance_enabled",
    "/proc/sys/kernel/sched_group_identity_enabled",
    "/proc/sys/kernel/sched_core",
)
"""Switches of openEuler and Anolis kernels; a kernel without them has no such file."""
RESCTRL = "/sys/fs/resctrl"
SYSCTLS_FILE = "/etc/sysctl.d/90-volcano-colocation-agent.conf"
"""What the role agent keeps on at each boot."""


def kernel(host: Host) -> dict[str, Any]:
    """``pressure`` is None where PSI is off or absent: older kernels make the file and refuse to read it."""
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
