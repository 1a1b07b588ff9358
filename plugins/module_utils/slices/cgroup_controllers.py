# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable controllers for a slice: through systemd's properties where they exist, otherwise with a controller unit.

A slice does not run a program, and on v1 systemd makes no cgroup in cpuset, hugetlb and similar controllers
(src/core/cgroup.c). The controller unit, a oneshot service in the slice's Wants=, makes them at each boot before the
slice and kubelet start.

This module also clears the CPUs and memory nodes of a restriction that ended. systemd then treats the controller as
not needed and writes nothing (src/core/cgroup.c unit_get_own_mask()), so the old list would stay in the kernel's file
while a sibling cgroup keeps the controller enabled.
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
    # On v2 cpu.stat exists without the controller, so accounting does not enable it.
    "cpu": (("CPUWeight", "100"),),
    "cpuacct": (("CPUAccounting", "yes"),),
    "memory": (("MemoryAccounting", "yes"),),
    "pids": (("TasksAccounting", "yes"),),
    "io": (("IOAccounting", "yes"),),
    "blkio": (("IOAccounting", "yes"),),
}
"""Properties by controller that make systemd enable it, with values that do not limit: unit_get_own_mask()."""
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
"""A new v1 cpuset has no CPU and no memory node, and so accepts no process: cgroup-v1/cpusets.rst. On v2 a cgroup has
the controllers in its parent's subtree_control: cgroup-v2.rst."""


@dataclass(frozen=True)
class ControllerUnit:
    """The service that makes the cgroups which systemd does not make; ``unit`` is its name."""

    slice: str
    controllers: tuple[str, ...]

    @property
    def unit(self) -> str:
        return f"volcano-colocation-cgroups-{self.slice[: -len(slice_names.SUFFIX)]}.service"

    @property
    def path(self) -> str:
        return f"{CONFIG}/{self.unit}"

    def script(self, root: str = ROOT) -> tuple[str, ...]:
        """The program and its arguments."""
        levels = [slice_names.path(level) for level in (*slice_names.parents(self.slice), self.slice)]
        return ("/bin/sh", "-ec", _SCRIPT, "sh", root, " ".join(self.controllers), *levels)

    def text(self) -> str:
        after = "".join(f"After={parent}\n" for parent in slice_names.parents(self.slice)[-1:])
        return (
            f"{MARK}\n"
            "[Unit]\n"
            f"Description=Cgroups of {self.slice} for {', '.join(self.controllers)}\n"
            "DefaultDependencies=no\n"
            f"{after}"
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
                f"controllers: {name!r} is not a controller of the kernel",
                f"Use one of {', '.join(sorted(KNOWN_CONTROLLERS))}",
            )
    return tuple(sorted(set(controllers)))


def controller_unit(unit: str, controllers: Sequence[str]) -> ControllerUnit | None:
    """The controller unit of a slice; None if systemd can enable all of the controllers."""
    unsupported = tuple(name for name in controllers if name not in _ENABLED_BY)
    return ControllerUnit(unit, unsupported) if unsupported else None


def enabling_properties(
    controllers: Sequence[str], properties: Mapping[str, object], possible_cpus: str
) -> dict[str, object]:
    """``properties`` and the properties that enable controllers; ``possible_cpus`` is the kernel's list, or empty.

    systemd enables cpuset on v2 only, for a slice with a restriction: here a list of all possible CPUs.
    """
    enabling = {name: value for controller in controllers for name, value in _ENABLED_BY.get(controller, ())}
    if "cpuset" in controllers and possible_cpus and _CPUSET.isdisjoint(properties):
        enabling["AllowedCPUs"] = possible_cpus
    return {
        **enabling,
        **{name: value for name, value in properties.items() if value not in (None, "") or name not in enabling},
    }


def missing_controllers(host: Host, tree: Hierarchies, unit: str, controllers: Sequence[str]) -> dict[str, str]:
    """Reasons by controller that the slice's cgroup lacks. ColocationError for one that the node does not have."""
    missing = {}
    for name in controllers:
        reason = _missing_reason(host, tree, slice_names.path(unit), name)
        if reason:
            missing[name] = reason
    return missing


def _missing_reason(host: Host, tree: Hierarchies, cgroup: str, controller: str) -> str:
    directory = tree.directory(controller, cgroup)
    try:
        if tree.mode == "v2":
            offered = host.read(directory + "/cgroup.controllers").split()
            return "" if controller in offered else "it is not enabled above the slice"
        if not stat.S_ISDIR(host.lstat(directory).st_mode):
            return "its path is not a directory"
        empty = controller == "cpuset" and not all(
            host.read(f"{directory}/cpuset.{kind}").strip() for kind in ("cpus", "mems")
        )
        return "it has no CPUs or no memory nodes yet" if empty else ""
    except OSError:
        return "the slice has no cgroup in this controller"


def _quote(word: str) -> str:
    """One word of a command line: systemd.service(5), "Command lines"."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


_CPUSETS = {"AllowedCPUs": "cpuset.cpus", "AllowedMemoryNodes": "cpuset.mems"}


def release_cpusets(host: Host, unit: str, pushed: Sequence[Setting]) -> None:
    """Clear the cpuset files of properties that were reset to their default, in the unit's own cgroup on v2."""
    ended = [_CPUSETS[setting.name] for setting in pushed if setting.name in _CPUSETS and not setting.value.value]
    tree = hierarchies(host) if ended else None
    if tree is None or tree.mode != "v2" or "cpuset" not in tree.points:
        return
    cgroup = slice_names.path(unit)
    root = tree.points["cpuset"]
    directory = safe_path.open_directory(host, root, cgroup)
    parent = safe_path.open_directory(host, root, os.path.dirname(cgroup))
    try:
        for name in ended:
            _release(directory, parent, name)
    finally:
        os.close(directory)
        os.close(parent)


def _release(directory: int, parent: int, name: str) -> None:
    try:
        if not safe_path.read(directory, name).strip():
            return
    except OSError:
        # The controller is off, so its files do not exist.
        return
    try:
        safe_path.write(directory, name, "\n")
    except OSError:
        # A populated cgroup needs a list: kernel/cgroup/cpuset.c validate_change(). So write all that its parent has.
        safe_path.write(directory, name, safe_path.read(parent, name + ".effective"))
