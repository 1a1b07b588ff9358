# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where containers really run: the shape of the cgroup path of each container process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .model import Claim, PodFacts

_SYSTEMD = re.compile(r"/(?:[^/:]+-)?kubepods(?:-\w+)*\.slice/(?:[^/:]+\.slice/)*[a-z-]+-[0-9a-f]{64}\.scope(?:/|$)")
_CGROUPFS = re.compile(r"/kubepods/(?:[^/:]+/)*pod[^/:]+/(?:crio-)?[0-9a-f]{64}(?:/|$)")


def container_path(cgroup_text: str) -> str:
    """The path that counts in a /proc/PID/cgroup text: v2's only line, or the memory controller's on v1."""
    lines = [line.split(":", 2) for line in cgroup_text.splitlines() if line.count(":") >= 2]
    for _number, controllers, path in lines:
        if "memory" in controllers.split(","):
            return path
    return lines[-1][2] if lines else ""


def interpret_pods(containers: Mapping[str, int], cri: Mapping[str, Any]) -> tuple[PodFacts, list[Claim]]:
    """PodFacts, and the live tree's claim on the driver. Other runtimes' containers outside kubepods do not count."""
    paths = sorted(map(container_path, containers))
    systemd = [path for path in paths if _SYSTEMD.search(path)]
    cgroupfs = [path for path in paths if _CGROUPFS.search(path)]
    misplaced = [path for path in paths if "kubepods" in path and path not in systemd and path not in cgroupfs]
    pods = PodFacts(
        sandboxes=sum(each["ready"] for each in cri.get("sandboxes", [])),
        containers=sum(each["running"] for each in cri.get("containers", [])),
        systemd_paths=len(systemd),
        cgroupfs_paths=len(cgroupfs),
        misplaced_paths=tuple(misplaced),
    )
    claims = []
    for value, found in (("systemd", systemd), ("cgroupfs", cgroupfs), ("neither", misplaced)):
        if found:
            claims.append(Claim("cgroupDriver", value, f"{len(found)} running container(s), such as {found[0]}"))
    return pods, claims
