# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the machine: kernel, PID 1, boot and distribution."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from ..host import Host
from .files import kernel_text
from .filesystems import filesystems


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
        **distribution(host),
        "swaps": kernel_text(host, "/proc/swaps"),
    }


def distribution(host: Host) -> dict[str, Any]:
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
