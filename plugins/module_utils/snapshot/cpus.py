# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the CPUs: which are there and online, SMT siblings, sockets, NUMA nodes."""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .files import kernel_text, names

_FOLDER = "/sys/devices/system/cpu"
_CPU_LIMIT = 4096
"""Files of one kind read at most: they are one a CPU."""


def _siblings(host: Host) -> list[str]:
    """Each set of hardware threads that share a core, as the kernel prints it. Offline CPUs have no topology."""
    return _topology(host, "thread_siblings_list")


def _topology(host: Host, file: str) -> list[str]:
    """The different words of all CPUs in one file of their topology."""
    found = [name for name in names(host, _FOLDER) if re.match(r"cpu\d+$", name)]
    paths = ["%s/%s/topology/%s" % (_FOLDER, name, file) for name in found[:_CPU_LIMIT]]
    return sorted({text for text in (kernel_text(host, path) for path in paths) if text})


def _numa(host: Host) -> dict[str, str | None]:
    folder = "/sys/devices/system/node"
    found = [name for name in names(host, folder) if re.match(r"node\d+$", name)]
    return {name[4:]: kernel_text(host, "%s/%s/cpulist" % (folder, name)) for name in found}


def cpus(host: Host) -> dict[str, Any]:
    """CPU lists as the kernel prints them (``0-3,8``), SMT's state, and a list per NUMA node."""
    lists = {
        name: kernel_text(host, "%s/%s" % (_FOLDER, name)) for name in ("online", "offline", "present", "isolated")
    }
    smt = kernel_text(host, _FOLDER + "/smt/active")
    return {
        **lists,
        "numa": _numa(host),
        "sockets": _topology(host, "physical_package_id"),
        "smt_active": smt,
        # Without SMT each CPU is its own only sibling: nothing to read.
        "siblings": [] if smt == "0" else _siblings(host),
    }
