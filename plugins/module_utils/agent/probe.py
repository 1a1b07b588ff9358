# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Volcano agent's pod will find on a node, and who the node is: all that facts do not tell."""

from __future__ import annotations

from typing import Any, Iterable

from ..host import Host
from ..snapshot.files import describe, kernel_text
from ..snapshot.system import identity

ENFORCE = "/sys/fs/selinux/enforce"
OS_RELEASE = "/etc/os-release"
SWITCHES = {
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
        "sysctls": [name for name, path in SWITCHES.items() if kernel_text(host, path) is not None],
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
