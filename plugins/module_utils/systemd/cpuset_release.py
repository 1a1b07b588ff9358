# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPUs and memory nodes are given back when a restriction ends.

systemd then counts the controller as not needed and writes nothing (src/core/cgroup.c unit_get_own_mask()), so that
the old list stays in the kernel's file wherever a neighbour keeps the controller on.
"""

from __future__ import annotations

import os
from typing import Sequence

from ..cgroup import safe_path, slices
from ..cgroup.hierarchy import hierarchies
from ..host import Host
from .properties import Setting

_CPUSETS = {"AllowedCPUs": "cpuset.cpus", "AllowedMemoryNodes": "cpuset.mems"}


def release(host: Host, unit: str, pushed: Sequence[Setting]) -> None:
    """Clear the files of those properties that went back to their default, in the unit's own cgroup on v2."""
    ended = [_CPUSETS[each.name] for each in pushed if each.name in _CPUSETS and not each.value.value]
    tree = hierarchies(host) if ended else None
    if tree is None or tree.mode != "v2" or "cpuset" not in tree.points:
        return
    cgroup = slices.path(unit)
    root = tree.points["cpuset"]
    folder = safe_path.open_folder(host, root, cgroup)
    above = safe_path.open_folder(host, root, os.path.dirname(cgroup))
    try:
        for name in ended:
            _release(folder, above, name)
    finally:
        os.close(folder)
        os.close(above)


def _release(folder: int, above: int, name: str) -> None:
    try:
        if not safe_path.read(folder, name).strip():
            return
    except OSError:
        # The controller is off, and its files with it.
        return
    try:
        safe_path.write(folder, name, "\n")
    except OSError:
        # A populated cgroup must keep some: kernel/cgroup/cpuset.c validate_change(). So all that its parent has.
        safe_path.write(folder, name, safe_path.read(above, name + ".effective"))
