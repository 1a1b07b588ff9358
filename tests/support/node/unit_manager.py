# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd as far as cgroups go: it holds properties, and writes all that it holds whenever a unit is touched.

Source: systemd src/core/cgroup.c cgroup_context_apply; file by file what a v2 node with systemd 257 showed.
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
        held = {**UNSET, **self._held.get(unit, {}), "ControlGroup": "/" + self._cgroup(unit)}
        return {name: held[name] for name in names if name in held}

    def set(self, unit: str, properties: Sequence[Property]) -> None:
        self.calls.append(("set", unit))
        for each in properties:
            if each.name == self.refuses:
                raise ColocationError(f"systemd refused {each.name}", "")
            self._held.setdefault(unit, {})[each.name] = each.value
        self.realize(unit)

    def realize(self, unit: str) -> None:
        """Write every attribute of a unit, as each daemon-reload and each change of one property does."""
        held, cgroup = {**UNSET, **self._held.get(unit, {})}, self._cgroup(unit)
        period = 100000 if held["CPUQuotaPeriodUSec"] == INFINITY else held["CPUQuotaPeriodUSec"]
        quota = held["CPUQuotaPerSecUSec"]
        self._write(cgroup, "cpu.max", "%s %d" % ("max" if quota == INFINITY else quota * period // 1000000, period))
        self._write(cgroup, "cpu.weight", str(100 if held["CPUWeight"] == INFINITY else held["CPUWeight"] or 1))
        self._write(cgroup, "cpu.idle", "1" if held["CPUWeight"] == 0 else "0")
        self._write(cgroup, "memory.oom.group", "0")
        for name, file in (("MemoryHigh", "memory.high"), ("MemoryMax", "memory.max"), ("TasksMax", "pids.max")):
            self._write(cgroup, file, "max" if held[name] == INFINITY else str(held[name]))

    def held(self, unit: str, name: str) -> Any:
        return self._held.get(unit, {}).get(name, UNSET[name])

    def forget(self) -> None:
        """A new boot: what was set at runtime is gone."""
        self._held.clear()

    def _write(self, cgroup: str, name: str, text: str) -> None:
        self._tree.file(cgroup, name).write_text(text + "\n")

    def _cgroup(self, unit: str) -> str:
        """Where the slice of this name is in the tree, by walking it."""
        found = [path for path in self._tree.top.rglob(unit) if path.is_dir()]
        return str(found[0].relative_to(self._tree.top)) if found else ""


class SystemdTree(Tree):
    """A v2 node whose slices are systemd's units; systemctl makes and removes links of units as it does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "v2", "systemd")
        self.commands: list[tuple[str, ...]] = []
        self.host = SimulatedHost(folder, self._answer)
        self.systemd = UnitManager(self)
        Path(self.host.path(reapply_unit.UNIT_FILE)).parent.mkdir(parents=True)

    def node(self) -> Node:
        return Node(self.host, hierarchies(self.host, ROOT), self.systemd, 257)

    def _answer(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
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
