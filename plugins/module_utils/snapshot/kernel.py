# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about what the kernel can do that no cgroup file shows: PSI, resctrl, the switches of vendor kernels."""

from __future__ import annotations

from typing import Any

from ..host import Host
from .files import capture, kernel_text, names

SYSCTLS = (
    "/proc/sys/vm/memcg_qos_enable",
    "/proc/sys/kernel/sched_prio_load_balance_enabled",
    "/proc/sys/kernel/sched_group_identity_enabled",
    "/proc/sys/kernel/sched_core",
)
"""Switches of openEuler and Anolis kernels; a kernel without them has no such file."""
RESCTRL = "/sys/fs/resctrl"
SWITCHES_FILE = "/etc/sysctl.d/90-volcano-colocation-agent.conf"
"""What the role agent keeps on at each boot."""


def kernel(host: Host) -> dict[str, Any]:
    """``pressure`` is None where PSI is off or absent: older kernels make the file and refuse to read it."""
    filesystems = kernel_text(host, "/proc/filesystems")
    return {
        "pressure": kernel_text(host, "/proc/pressure/cpu"),
        "sysctls": {path: kernel_text(host, path) for path in SYSCTLS},
        "switches_file": capture(host, SWITCHES_FILE),
        "resctrl": {
            "known": None if filesystems is None else "resctrl" in filesystems.split(),
            "files": names(host, RESCTRL)[:50],
        },
    }
