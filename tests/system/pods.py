# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cgroup paths of containers say (kubelet: pkg/kubelet/cm; containerd: getCgroupsPath)."""

from __future__ import annotations

import re
from collections.abc import Iterable

QOS_CLASSES = {"guaranteed", "burstable", "besteffort"}

_SHAPES = {
    "systemd": re.compile(
        r"/kubepods\.slice/(?:kubepods-(?P<qos>\w+)\.slice/)?kubepods-(?:\w+-)?pod\w+\.slice/cri-containerd-[0-9a-f]{64}\.scope"
    ),
    "cgroupfs": re.compile(r"/kubepods/(?:(?P<qos>\w+)/)?pod[\w-]+/[0-9a-f]{64}"),
}


def qos_classes(paths: Iterable[str], driver: str) -> set[str]:
    """The classes of the pods that run; fails on a container that is where the driver does not put it."""
    found = {path: _SHAPES[driver].fullmatch(path) for path in paths}
    elsewhere = [path for path, match in found.items() if match is None]
    assert not elsewhere, elsewhere
    return {match["qos"] or "guaranteed" for match in found.values() if match}
