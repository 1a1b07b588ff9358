# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""QoS classes from cgroup paths of containers (kubelet: pkg/kubelet/cm; containerd: getCgroupsPath)."""

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
    """Return the classes of the running pods; fail if a container has a path that the driver does not use."""
    matches = {path: _SHAPES[driver].fullmatch(path) for path in paths}
    elsewhere = [path for path, match in matches.items() if match is None]
    assert not elsewhere, elsewhere
    return {match["qos"] or "guaranteed" for match in matches.values() if match}
