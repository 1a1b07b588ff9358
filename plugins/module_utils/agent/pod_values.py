# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the cgroups of one pod and its container, held against what should."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ..cgroup import safe_path
from ..cgroup.hierarchy import Hierarchies, hierarchies
from ..cgroup.mounts import ROOT
from ..cgroup.names import Driver, KubeletTree, QosClass, container
from ..errors import ColocationError
from ..host import Host

POD, CONTAINER = "pod", "container"


@dataclass(frozen=True)
class Place:
    """A pod with one container, as kubelet and the runtime name their cgroups."""

    uid: str
    container: str
    runtime: str
    driver: Driver
    root: str
    qos: QosClass

    def cgroups(self) -> dict[str, str]:
        """Both below the top of a hierarchy."""
        pod = KubeletTree(self.driver, self.root).pod(self.qos, self.uid)
        return {POD: pod, CONTAINER: container(pod, self.runtime, self.container)}


def held_against(
    host: Host, place: Place, expected: Sequence[Mapping[str, str]], cgroup_root: str = ROOT
) -> list[dict[str, Any]]:
    """Each expectation with ``path``, the ``actual`` text, and why that cannot be told, if it cannot: ``reason``."""
    known = hierarchies(host, cgroup_root)
    cgroups = place.cgroups()
    return [{**each, **_found(host, known, cgroups[each["level"]], each)} for each in expected]


def _found(host: Host, known: Hierarchies, cgroup: str, each: Mapping[str, str]) -> dict[str, Any]:
    path = f"{known.folder(each['controller'], cgroup)}/{each['file']}"
    text, reason = "", ""
    try:
        folder = safe_path.open_folder(host, known.points[each["controller"]], cgroup)
        try:
            text = " ".join(safe_path.read(folder, each["file"]).split())
        finally:
            os.close(folder)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ColocationError as error:
        reason = error.message
    return {"path": path, "actual": text, "reason": reason, "verified": not reason and text == each["value"]}
