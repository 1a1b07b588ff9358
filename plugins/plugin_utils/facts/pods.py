# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where containers really run: the shape of the cgroup path of each container process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.cgroup.container_paths import PODS, decisive_path, driver_of
from ...module_utils.cgroup.kubelet_names import Driver
from .model import Claim, PodFacts


def interpret_pods(containers: Mapping[str, int], cri: Mapping[str, Any]) -> tuple[PodFacts, list[Claim]]:
    """PodFacts, and the live tree's claim on the driver. Other runtimes' containers outside kubepods do not count."""
    drivers = [(path, driver_of(path)) for path in sorted(map(decisive_path, containers))]
    systemd = [path for path, driver in drivers if driver is Driver.SYSTEMD]
    cgroupfs = [path for path, driver in drivers if driver is Driver.CGROUPFS]
    misplaced = [path for path, driver in drivers if driver is None and PODS in path]
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
