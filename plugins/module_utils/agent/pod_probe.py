# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Volcano agent's pod finds on a node, and the values in the cgroups of one pod beside the expected ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ..cgroup import safe_path
from ..cgroup.hierarchy import ROOT, Hierarchies, hierarchies
from ..cgroup.kubelet_names import Driver, KubeletTree, QosClass, container_cgroup
from ..errors import ColocationError
from ..host import Host
from ..snapshot.file_evidence import describe, kernel_text
from ..snapshot.machine_evidence import identity

ENFORCE = "/sys/fs/selinux/enforce"
OS_RELEASE = "/etc/os-release"
SYSCTLS = {
    "vm.memcg_qos_enable": "/proc/sys/vm/memcg_qos_enable",
    "kernel.sched_prio_load_balance_enabled": "/proc/sys/kernel/sched_prio_load_balance_enabled",
}
"""Of openEuler's kernels: volcano installer/build/volcano-agent/install.sh writes 1 to those that are there."""


def probe(host: Host, paths: Iterable[str]) -> dict[str, Any]:
    """Who the node is, with ``selinux``, ``os``, ``sysctls`` of its kernel, and what lies at ``paths``."""
    return {
        **identity(host),
        "selinux": selinux(kernel_text(host, ENFORCE)),
        "os": distribution(kernel_text(host, OS_RELEASE)),
        "sysctls": [name for name, path in SYSCTLS.items() if kernel_text(host, path) is not None],
        "paths": {path: describe(host, path)["kind"] for path in paths},
    }


def selinux(enforce: str | None) -> str:
    """SELinux's mode by the file of its own filesystem, which is there only while it is on: selinux(8)."""
    if enforce is None:
        return "off"
    return "enforcing" if enforce.strip() == "1" else "permissive"


def distribution(os_release: str | None) -> dict[str, str]:
    """NAME and VERSION as os-release(5) has them; empty where it does not say."""
    found = {"NAME": "", "VERSION": ""}
    for line in (os_release or "").splitlines():
        key, _equals, value = line.partition("=")
        if key in found:
            found[key] = value.strip().strip("\"'")
    return {"name": found["NAME"], "version": found["VERSION"]}


POD, CONTAINER = "pod", "container"


@dataclass(frozen=True)
class PodCgroups:
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
        return {POD: pod, CONTAINER: container_cgroup(pod, self.runtime, self.container)}


def compare_cgroup_values(
    host: Host, place: PodCgroups, expected: Sequence[Mapping[str, str]], cgroup_root: str = ROOT
) -> list[dict[str, Any]]:
    """Each expectation with ``path``, the ``actual`` text, and why that cannot be told, if it cannot: ``reason``."""
    known = hierarchies(host, cgroup_root)
    cgroups = place.cgroups()
    return [{**each, **_read_value(host, known, cgroups[each["level"]], each)} for each in expected]


def _read_value(host: Host, known: Hierarchies, cgroup: str, each: Mapping[str, str]) -> dict[str, Any]:
    path = f"{known.directory(each['controller'], cgroup)}/{each['file']}"
    text, reason = "", ""
    try:
        folder = safe_path.open_directory(host, known.points[each["controller"]], cgroup)
        try:
            text = " ".join(safe_path.read(folder, each["file"]).split())
        finally:
            os.close(folder)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ColocationError as error:
        reason = error.message
    return {"path": path, "actual": text, "reason": reason, "verified": not reason and text == each["value"]}
