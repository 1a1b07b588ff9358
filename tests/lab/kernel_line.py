# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel command line of a node."""

from __future__ import annotations

from .spec import CgroupMode, Engine, NodeSpec, Suite

COMMON = ("loglevel=4", "panic=10", "net.ifnames=0", "apparmor=0", "audit=0", "systemd.show_status=error")

QEMU = (
    "console=ttyS0,115200",
    # A break on the serial port makes the kernel report its state: see diagnosis.py.
    "sysrq_always_enabled",
    # Each of these features costs an emulated guest seconds without a benefit.
    "mitigations=off",
    "nokaslr",
    "nowatchdog",
    "no_timer_check",
    # One counter for all CPUs. Delays of emulation make the kernel distrust it and use the HPET, which is slow.
    "tsc=reliable",
)


def kernel_line(spec: NodeSpec, engine: Engine) -> str:
    """Kernel parameters in one line; those of the specification come last and override others."""
    own = () if engine is Engine.UML else QEMU
    return " ".join([*COMMON, *own, *_cgroup(spec), *spec.kernel_args])


def _cgroup(spec: NodeSpec) -> list[str]:
    if spec.cgroup is CgroupMode.V2:
        return ["systemd.unified_cgroup_hierarchy=1"]
    # Without the second parameter systemd mounts the hybrid hierarchy (systemd(1), kernel command line).
    legacy = ["systemd.unified_cgroup_hierarchy=0"]
    if spec.cgroup is CgroupMode.V1:
        legacy.append("systemd.legacy_systemd_cgroup_controller=1")
    if spec.suite is Suite.TRIXIE:
        # systemd 256 and 257 stop at boot without it (systemd NEWS, 256).
        legacy.append("SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1")
    return legacy
