# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod of the Volcano agent depends on, and a comparison of a pod's cgroup values with expected ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

from ..cgroup import safe_path
from ..cgroup.hierarchy import ROOT, Hierarchies, hierarchies
from ..cgroup.kubelet_names import Driver, KubeletTree, QosClass, container_cgroup
from ..errors import ColocationError
from ..host import Clock, Host
from ..snapshot.file_evidence import describe, kernel_text
from ..snapshot.machine_evidence import identity

ENFORCE = "/sys/fs/selinux/enforce"
OS_RELEASE = "/etc/os-release"
SYSCTLS = {
    "vm.memcg_qos_enable": "/proc/sys/vm/memcg_qos_enable",
    "kernel.sched_prio_load_balance_enabled": "/proc/sys/kernel/sched_prio_load_balance_enabled",
}
"""Sysctls of openEuler's kernels: volcano installer/build/volcano-agent/install.sh writes 1 to those that exist."""


def probe(host: Host, paths: Iterable[str]) -> dict[str, Any]:
    """The node's identity, with ``selinux``, ``os``, ``sysctls`` of its kernel, and the kinds of files at ``paths``."""
    return {
        **identity(host),
        "selinux": selinux(kernel_text(host, ENFORCE)),
        "os": distribution(kernel_text(host, OS_RELEASE)),
        "sysctls": [name for name, path in SYSCTLS.items() if kernel_text(host, path) is not None],
        "paths": {path: describe(host, path)["kind"] for path in paths},
    }


def selinux(enforce: str | None) -> str:
    """SELinux's mode by the file of selinuxfs, which exists only while SELinux is enabled: selinux(8)."""
    if enforce is None:
        return "off"
    return "enforcing" if enforce.strip() == "1" else "permissive"


def distribution(os_release: str | None) -> dict[str, str]:
    """NAME and VERSION of os-release(5); empty where the file does not set them."""
    fields = {"NAME": "", "VERSION": ""}
    for line in (os_release or "").splitlines():
        key, _equals, value = line.partition("=")
        if key in fields:
            fields[key] = value.strip().strip("\"'")
    return {"name": fields["NAME"], "version": fields["VERSION"]}


POD, CONTAINER = "pod", "container"


@dataclass(frozen=True)
class PodCgroups:
    """A pod with one container, and what determines the names of their cgroups."""

    uid: str
    container: str
    runtime: str
    driver: Driver
    root: str
    qos: QosClass

    def cgroups(self) -> dict[str, str]:
        """The paths of both cgroups below the root of a hierarchy, by level."""
        pod = KubeletTree(self.driver, self.root).pod(self.qos, self.uid)
        return {POD: pod, CONTAINER: container_cgroup(pod, self.runtime, self.container)}


def compare_cgroup_values(
    host: Host, pod: PodCgroups, expected: Sequence[Mapping[str, str]], cgroup_root: str = ROOT
) -> list[dict[str, Any]]:
    """Each expected value with ``path``, the ``actual`` text, and the ``reason`` if the file cannot be read."""
    known = hierarchies(host, cgroup_root)
    cgroups = pod.cgroups()
    return [{**value, **_read_value(host, known, cgroups[value["level"]], value)} for value in expected]


PAUSE = 1.0
"""Seconds between two comparisons."""


def wait_until_verified(
    compare: Callable[[], list[dict[str, Any]]], timeout: float, clock: Clock
) -> list[dict[str, Any]]:
    """The result of ``compare`` once all its values are verified, or after ``timeout`` seconds."""
    deadline = clock.monotonic() + timeout
    while True:
        values = compare()
        if all(value["verified"] for value in values) or clock.monotonic() >= deadline:
            return values
        clock.sleep(PAUSE)


def _read_value(host: Host, known: Hierarchies, cgroup: str, expected: Mapping[str, str]) -> dict[str, Any]:
    path = f"{known.directory(expected['controller'], cgroup)}/{expected['file']}"
    text, reason = "", ""
    try:
        directory = safe_path.open_directory(host, known.points[expected["controller"]], cgroup)
        try:
            text = " ".join(safe_path.read(directory, expected["file"]).split())
        finally:
            os.close(directory)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ColocationError as error:
        reason = error.message
    return {"path": path, "actual": text, "reason": reason, "verified": not reason and text == expected["value"]}
