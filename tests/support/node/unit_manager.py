# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's handling of cgroups: it stores properties, and writes all of a unit's properties whenever one changes.

Source: systemd src/core/cgroup.c cgroup_context_apply; the files were observed on a v2 node with systemd 257.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Sequence

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.settings import reapply_unit
from ansible_collections.volcano.colocation.plugins.module_utils.settings.cgroup_state import Node
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.bus import Bus
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY, Property
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.node.simulation import SimulatedHost

UNSET: dict[str, Any] = {
    "CPUWeight": INFINITY,
    "CPUQuotaPerSecUSec": INFINITY,
    "CPUQuotaPeriodUSec": INFINITY,
    "MemoryHigh": INFINITY,
    "MemoryMax": INFINITY,
    "MemoryLow": 0,
    "TasksMax": INFINITY,
    "IOReadBandwidthMax": (),
    "IOWriteBandwidthMax": (),
    "IOReadIOPSMax": (),
    "IOWriteIOPSMax": (),
}
WANTS = ("multi-user.target.wants", "kubelet.service.wants")


class UnitManager(Bus):
    """The units are the slices of a tree."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.host)
        self._tree = tree
        self._held: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, str]] = []
        self.refuses = ""

    def version(self) -> int:
        return 257

    def get(self, unit: str, interface: str, names: Sequence[str]) -> dict[str, Any]:
        self.calls.append(("get", unit))
        properties = {**UNSET, **self._held.get(unit, {}), "ControlGroup": "/" + self._cgroup(unit)}
        return {name: properties[name] for name in names if name in properties}

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        self.calls.append(("set", unit))
        for item in properties:
            if item.name == self.refuses:
                raise ColocationError(f"systemd refused {item.name}", "")
            self._held.setdefault(unit, {})[item.name] = item.value
        self.realize(unit)

    def realize(self, unit: str) -> None:
        """Write every attribute of a unit, as each daemon-reload and each change of one property does."""
        properties, cgroup = {**UNSET, **self._held.get(unit, {})}, self._cgroup(unit)
        period = 100000 if properties["CPUQuotaPeriodUSec"] == INFINITY else properties["CPUQuotaPeriodUSec"]
        quota, weight = properties["CPUQuotaPerSecUSec"], properties["CPUWeight"]
        self._write(cgroup, "cpu.max", "%s %d" % ("max" if quota == INFINITY else quota * period // 1000000, period))
        self._write(cgroup, "cpu.weight", str(100 if weight == INFINITY else weight or 1))
        self._write(cgroup, "cpu.idle", "1" if weight == 0 else "0")
        self._write(cgroup, "memory.oom.group", "0")
        for name, file in (("MemoryHigh", "memory.high"), ("MemoryMax", "memory.max"), ("TasksMax", "pids.max")):
            self._write(cgroup, file, "max" if properties[name] == INFINITY else str(properties[name]))

    def value_of(self, unit: str, name: str) -> Any:
        return self._held.get(unit, {}).get(name, UNSET[name])

    def forget(self) -> None:
        """Boot again: delete what was set at runtime."""
        self._held.clear()

    def _write(self, cgroup: str, name: str, text: str) -> None:
        self._tree.file(cgroup, name).write_text(text + "\n")

    def _cgroup(self, unit: str) -> str:
        """Find the slice of this name in the tree; return its path."""
        paths = [path for path in self._tree.top.rglob(unit) if path.is_dir()]
        return str(paths[0].relative_to(self._tree.top)) if paths else ""


class SystemdTree(Tree):
    """A v2 node whose slices are systemd's units; systemctl creates and deletes the links of units."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, "v2", "systemd")
        self.commands: list[tuple[str, ...]] = []
        self.host = SimulatedHost(directory, self._respond)
        self.systemd = UnitManager(self)
        Path(self.host.path(reapply_unit.UNIT_FILE)).parent.mkdir(parents=True)

    def node(self) -> Node:
        return Node(self.host, hierarchies(self.host, ROOT), self.systemd, 257)

    def _respond(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        self.commands.append(argv)
        for wants in WANTS:
            link = Path(self.host.path("/etc/systemd/system/%s/%s" % (wants, reapply_unit.UNIT)))
            if argv[1] == "enable":
                link.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(str(link)):
                    link.symlink_to(reapply_unit.UNIT_FILE)
            if argv[1] == "disable" and os.path.lexists(str(link)):
                link.unlink()
        return 0, "", ""
