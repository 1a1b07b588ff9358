# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controllers a slice is to be in: those that systemd knows by properties, the others by a unit of ours.

Slices run no program, and on v1 systemd makes no cgroup in cpuset, hugetlb and the like: src/core/cgroup.c. A oneshot
service that the slice wants makes them at each boot before the slice and kubelet start.

CPUs and memory nodes are given back here when a restriction ends: systemd then counts the controller as not needed and
writes nothing (src/core/cgroup.c unit_get_own_mask()), so that the old list stays in the kernel's file wherever a
neighbour keeps the controller on.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..cgroup import safe_path, slice_names
from ..cgroup.hierarchy import V1_CONTROLLER, Hierarchies, hierarchies
from ..errors import ColocationError
from ..host import Host
from .properties import Setting
from .unit_files import CONFIG, MARK

ROOT = "/sys/fs/cgroup"
KNOWN_CONTROLLERS = frozenset((*V1_CONTROLLER.pattern.split("|"), "io"))
_ENABLED_BY: Mapping[str, tuple[tuple[str, str], ...]] = {
    # On v2 cpu.stat is there without the controller, so that accounting turns on nothing.
    "cpu": (("CPUWeight", "100"),),
    "cpuacct": (("CPUAccounting", "yes"),),
    "memory": (("MemoryAccounting", "yes"),),
    "pids": (("TasksAccounting", "yes"),),
    "io": (("IOAccounting", "yes"),),
    "blkio": (("IOAccounting", "yes"),),
}
"""Controller: the properties that make systemd enable it, with values that limit nothing: unit_get_own_mask()."""
_CPUSET = frozenset(("AllowedCPUs", "AllowedMemoryNodes", "StartupAllowedCPUs", "StartupAllowedMemoryNodes"))
_SCRIPT = (
    "root=$1; controllers=$2; shift 2; "
    "for controller in $controllers; do "
    "if [ -e $root/cgroup.controllers ]; then "
    'above=$root; for path; do echo "+$controller" 2>/dev/null >"$above/cgroup.subtree_control" || :; '
    'above="$root/$path"; done; '
    "elif [ -d $root/$controller ]; then "
    'above=$root/$controller; for path; do here="$root/$controller/$path"; mkdir -p "$here"; '
    "if [ $controller = cpuset ]; then for file in cpuset.cpus cpuset.mems; do "
    '[ -n "$(cat "$here/$file")" ] || cat "$above/$file" >"$here/$file"; done; fi; '
    'above="$here"; done; fi; done'
)
"""A new v1 cpuset has no CPU and no memory node, and so takes no process: cgroup-v1/cpusets.rst. On v2 a cgroup has
the controllers that its parent's subtree_control names: cgroup-v2.rst."""


@dataclass(frozen=True)
class ControllerUnit:
    """The service that makes what systemd does not: ``unit`` is its name."""

    slice: str
    controllers: tuple[str, ...]

    @property
    def unit(self) -> str:
        return f"volcano-colocation-cgroups-{self.slice[: -len(slice_names.SUFFIX)]}.service"

    @property
    def path(self) -> str:
        return f"{CONFIG}/{self.unit}"

    def script(self, root: str = ROOT) -> tuple[str, ...]:
        """Program and arguments."""
        levels = [slice_names.path(level) for level in (*slice_names.parents(self.slice), self.slice)]
        return ("/bin/sh", "-ec", _SCRIPT, "sh", root, " ".join(self.controllers), *levels)

    def text(self) -> str:
        above = "".join(f"After={parent}\n" for parent in slice_names.parents(self.slice)[-1:])
        return (
            f"{MARK}\n"
            "[Unit]\n"
            f"Description=Cgroups of {self.slice} for {', '.join(self.controllers)}\n"
            "DefaultDependencies=no\n"
            f"{above}"
            f"Before={self.slice} slices.target kubelet.service\n"
            "\n"
            "[Service]\n"
            "Type=oneshot\n"
            f"ExecStart={' '.join(_quote(word) for word in self.script())}\n"
        )


def validate_controllers(controllers: Sequence[str]) -> tuple[str, ...]:
    for name in controllers:
        if name not in KNOWN_CONTROLLERS:
            raise ColocationError(
                f"controllers: {name!r} is none of the kernel's",
                f"The controllers are: {', '.join(sorted(KNOWN_CONTROLLERS))}",
            )
    return tuple(sorted(set(controllers)))


def controller_unit(unit: str, controllers: Sequence[str]) -> ControllerUnit | None:
    """None when systemd can do it all."""
    others = tuple(name for name in controllers if name not in _ENABLED_BY)
    return ControllerUnit(unit, others) if others else None


def enabling_properties(
    controllers: Sequence[str], given: Mapping[str, object], possible_cpus: str
) -> dict[str, object]:
    """``given`` and those properties that turn controllers on; ``possible_cpus`` as the kernel lists them, or empty.

    systemd knows cpuset on v2 only, and turns it on for a slice that is restricted: here to every CPU there can be.
    """
    found = {name: value for each in controllers for name, value in _ENABLED_BY.get(each, ())}
    if "cpuset" in controllers and possible_cpus and _CPUSET.isdisjoint(given):
        found["AllowedCPUs"] = possible_cpus
    return {**found, **{name: value for name, value in given.items() if value not in (None, "") or name not in found}}


def missing_controllers(host: Host, tree: Hierarchies, unit: str, controllers: Sequence[str]) -> dict[str, str]:
    """Controller: why the slice's cgroup does not have it. ColocationError for one that the node does not have."""
    found = {}
    for name in controllers:
        reason = _missing_reason(host, tree, slice_names.path(unit), name)
        if reason:
            found[name] = reason
    return found


def _missing_reason(host: Host, tree: Hierarchies, cgroup: str, controller: str) -> str:
    folder = tree.directory(controller, cgroup)
    try:
        if tree.mode == "v2":
            offered = host.read(folder + "/cgroup.controllers").split()
            return "" if controller in offered else "it is not enabled above the slice"
        if not stat.S_ISDIR(host.lstat(folder).st_mode):
            return "what is there is no folder"
        empty = controller == "cpuset" and not all(
            host.read(f"{folder}/cpuset.{kind}").strip() for kind in ("cpus", "mems")
        )
        return "it has no CPUs or no memory nodes yet" if empty else ""
    except OSError:
        return "it has no cgroup there"


def _quote(word: str) -> str:
    """One word of a command line: systemd.service(5), "Command lines"."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


_CPUSETS = {"AllowedCPUs": "cpuset.cpus", "AllowedMemoryNodes": "cpuset.mems"}


def release_cpusets(host: Host, unit: str, pushed: Sequence[Setting]) -> None:
    """Clear the files of those properties that went back to their default, in the unit's own cgroup on v2."""
    ended = [_CPUSETS[each.name] for each in pushed if each.name in _CPUSETS and not each.value.value]
    tree = hierarchies(host) if ended else None
    if tree is None or tree.mode != "v2" or "cpuset" not in tree.points:
        return
    cgroup = slice_names.path(unit)
    root = tree.points["cpuset"]
    folder = safe_path.open_directory(host, root, cgroup)
    above = safe_path.open_directory(host, root, os.path.dirname(cgroup))
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
