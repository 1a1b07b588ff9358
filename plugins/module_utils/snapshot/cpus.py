# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the CPUs: which are there and online, SMT siblings, NUMA nodes."""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .files import kernel_text, names

_FOLDER = "/sys/devices/system/cpu"
_CPU_LIMIT = 4096
"""Sibling files read at most: they are one a CPU."""


def _siblings(host: Host) -> list[str]:
    """Each set of hardware threads that share a core, as the kernel prints it. Offline CPUs have no topology."""
    found = [name for name in names(host, _FOLDER) if re.match(r"cpu\d+$", name)]
    paths = ["%s/%s/topology/thread_siblings_list" % (_FOLDER, name) for name in found[:_CPU_LIMIT]]
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
        "smt_active": smt,
        # Without SMT each CPU is its own only sibling: nothing to read.
        "siblings": [] if smt == "0" else _siblings(host),
    }
