# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of systemd: the version that runs, the one that the next boot starts, and what that does to cgroups.

Source of the table: systemd NEWS and src/shared/mount-setup.c, man kernel-command-line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .model import CgroupMode, Parameters, SystemdFacts

UNIFIED = "systemd.unified_cgroup_hierarchy"
LEGACY = "systemd.legacy_systemd_cgroup_controller"
FORCE = "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE"
LAST_WITHOUT_FORCE = 255
FIRST_WITHOUT_V1 = 258


def major(version: str | None) -> int | None:
    """257 of ``257.13-1~deb13u1`` and of ``v257``."""
    found = re.match(r"v?(\d+)", version or "")
    return int(found[1]) if found else None


def switch(values: tuple[str, ...] | None) -> bool | None:
    """A boolean parameter as systemd reads it: the last one wins, the bare word is yes; None when it is not given."""
    if not values:
        return None
    return values[-1].lower() in ("", "1", "y", "yes", "t", "true", "on")


def next_mode(version: int | None, given: Parameters) -> tuple[CgroupMode | None, str | None]:
    """The mode after a reboot with this command line; None where the distribution's build option decides it.

    Since 256 that option can only be v2 (systemd NEWS).
    """
    if version is None:
        return None, None
    if version >= FIRST_WITHOUT_V1:
        return CgroupMode.V2, f"systemd {version} has no cgroup v1 (removed in {FIRST_WITHOUT_V1})"
    wants_v2 = switch(given.get(UNIFIED))
    if wants_v2 or (wants_v2 is None and "all" in given.get("cgroup_no_v1", ())):
        return CgroupMode.V2, "the kernel command line asks for v2"
    if wants_v2 is None:
        return (CgroupMode.V2, f"systemd {version} gives v2 unasked") if version > LAST_WITHOUT_FORCE else (None, None)
    if version > LAST_WITHOUT_FORCE and not switch(given.get(FORCE)):
        end = "does not boot" if version == 256 else "waits 30 s and starts with v2"
        return CgroupMode.V2, f"systemd {version} {end} when v1 is asked for without {FORCE}=1"
    legacy = switch(given.get(LEGACY))
    return CgroupMode.V1 if legacy else CgroupMode.HYBRID, f"the kernel command line asks for v1 ({UNIFIED}=0)"


def interpret_systemd(services: Mapping[str, Any], given: Parameters) -> SystemdFacts:
    """SystemdFacts of a snapshot's ``services`` section; ``given`` is what the next boot finds on its command line."""
    running, installed = services["version"], services.get("installed")
    mode, reason = next_mode(major(installed or running), given)
    return SystemdFacts(
        running=running,
        installed=installed,
        next_mode=mode,
        next_mode_reason=reason,
        units=services["units"],
    )
