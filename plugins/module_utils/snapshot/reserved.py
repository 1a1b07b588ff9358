# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the cgroups that kubelet's configuration names for reservations: kubelet never makes them itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..cgroup import slices
from ..host import Host
from .files import describe, kernel_text
from .kubelet_hints import hints
from .processes import option

FLAGS = ("--system-reserved-cgroup", "--kube-reserved-cgroup")
FIELDS = ("systemReservedCgroup", "kubeReservedCgroup")
NAME_LIMIT = 20


def named(kubelet: Mapping[str, Any]) -> list[str]:
    """The values of the two fields and flags, wherever they stand in kubelet's files and command line."""
    lines = [process["argv"] for process in kubelet["processes"]]
    flags = [value for argv in lines for value in (option(argv, flag) for flag in FLAGS) if value]
    texts = [each["text"] for each in kubelet["files"].values() if "text" in each]
    return sorted({*flags, *(value for text in texts for _name, value in hints(text, *FIELDS))})[:NAME_LIMIT]


def candidates(name: str) -> list[str]:
    """The paths a *ReservedCgroup may mean: itself under cgroupfs, a slice of that name under systemd.

    Source: kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ParseSystemdToCgroupName, ToSystemd.
    """
    base = name.rpartition("/")[2]
    unit = base if base.endswith(slices.SUFFIX) else base + slices.SUFFIX
    found = [name.strip("/"), "" if slices.problem(unit) else slices.expand(unit)]
    return [path for path in found if path and ".." not in path.split("/")]


def reserved(
    host: Host, points: Iterable[str], kubelet: Mapping[str, Any], wanted: Iterable[str] = ()
) -> dict[str, list[str]]:
    """By path below a hierarchy's top: the hierarchies in which a cgroup exists that kubelet or ``wanted`` names."""
    points = sorted(points)
    paths = sorted({path for name in (*named(kubelet), *wanted) for path in candidates(name)})
    return {
        path: [point for point in points if describe(host, "%s/%s" % (point, path))["kind"] == "directory"]
        for path in paths
    }


def offered(host: Host, found: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """By path: the controllers that a cgroup of a v2 hierarchy is offered."""
    texts = {
        path: kernel_text(host, "%s/%s/cgroup.controllers" % (point, path))
        for path, points in found.items()
        for point in points
    }
    return {path: text for path, text in texts.items() if text is not None}
