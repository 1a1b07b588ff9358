# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the machine: kernel, PID 1, boot and distribution."""

from __future__ import annotations

import time
from typing import Any

from ..host import Host
from .files import kernel_text


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
        "swaps": kernel_text(host, "/proc/swaps"),
    }


def booted_at(proc_uptime: str | None, now: float) -> float | None:
    """Seconds since the epoch at which the kernel started; btime of /proc/stat is rounded to a whole second."""
    try:
        return now - float(proc_uptime.split()[0]) if proc_uptime else None
    except (ValueError, IndexError):
        return None
