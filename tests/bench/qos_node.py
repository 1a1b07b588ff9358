# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what settings on cgroups of a real node cost, by which backend they are made, and in how many calls.

Runs on the node, as root and as a service to which systemd has left its cgroup (Delegate=yes): the pods are made below
it. What cgroup_qos keeps of its own is kept apart, so that the node's record and units stay as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock, Host
from ansible_collections.volcano.colocation.plugins.module_utils.settings import workflow
from ansible_collections.volcano.colocation.plugins.module_utils.settings.cgroup_state import Node
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.bus import Bus
from ansible_collections.volcano.colocation.tests.bench.qos_work import Pods, one_round, planned, report

PODS, ROUNDS = 120, 5
MOUNT = "/sys/fs/cgroup"
CONTROLLERS = "+cpu +memory +pids"
OURS = ("/var/lib/volcano-colocation", "/usr/local/lib/volcano-colocation", "/etc/systemd/system/volcano-colocation")
UNITS = tuple(f"colocationbench-unit{number}.slice" for number in range(3))
OF_UNITS = {
    "cpu_weight": 20,
    "cpu_quota": "0.5",
    "memory_low": "16Mi",
    "memory_high": "96Mi",
    "memory_max": "128Mi",
    "pids_max": 250,
}
"""Properties of systemd, all of them."""


class Apart(Host):
    """The node, but for the collection's own files, which are below a folder."""

    def __init__(self, folder: str) -> None:
        super().__init__("/")
        self._folder = folder

    def path(self, path: str) -> str:
        return self._folder + path if path.startswith(OURS) else super().path(path)


class Audit:
    """Counts what this process does, by CPython's own audit events (sys.addaudithook, PEP 578)."""

    def __init__(self) -> None:
        self._counting = False
        self.written = 0
        self.commands: list[list[str]] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, given: tuple[Any, ...]) -> None:
        if not self._counting:
            return
        if event == "open":
            path, _mode, flags = given
            self.written += flags & os.O_ACCMODE != os.O_RDONLY and path != os.devnull
        elif event == "subprocess.Popen":
            self.commands.append(list(given[1]))

    def count(self, work: Callable[[], None]) -> int:
        """How many files a work opened to write them; the time of a file of the kernel would not tell."""
        self.written, self.commands, self._counting = 0, [], True
        try:
            work()
        finally:
            self._counting = False
        return self.written


def made(host: Host, top: Path, count: int) -> Pods:
    """Cgroups of pods below the folder of a cgroup, in which there is no process."""
    own = str(top)[len(MOUNT) :]
    middle = ("", "kubepods", "kubepods/besteffort")
    for each in middle:
        (top / each).mkdir(exist_ok=True)
        (top / each / "cgroup.subtree_control").write_text(CONTROLLERS)
    names = [f"kubepods/besteffort/pod{number:032x}" for number in range(count)]
    for name in names:
        (top / name).mkdir()
    options = {
        "qos_class": "besteffort",
        "level": "pods",
        "cgroup_driver": "cgroupfs",
        "kubelet_cgroup_root": own,
        "persistent": False,
    }
    return Pods(Node(host, hierarchies(host)), top, names, options)


@contextmanager
def own_cgroup() -> Iterator[Path]:
    """The folder of our cgroup, while we are in another one below it."""
    top = Path(MOUNT + Path("/proc/self/cgroup").read_text().rstrip("\n").rpartition("::")[2])
    (top / "bench").mkdir()
    (top / "bench" / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield top
    finally:
        for folder, _names, _files in os.walk(top / "kubepods", topdown=False):
            os.rmdir(folder)


def calls(host: Host, audit: Audit) -> list[dict[str, int]]:
    """For each unit: how many calls set its properties, and how many the second run makes."""
    bus = Bus(host)
    node = Node(host, hierarchies(host), bus, bus.version())
    found = []
    try:
        for unit in UNITS:
            bus.start(unit)
            options = {"slice": unit, "settings": OF_UNITS, "persistent": False}
            first, second = (_set(node, options, audit) for _run in range(2))
            found.append({"calls": first, "again": second})
    finally:
        for verb in ("stop", "revert"):
            subprocess.run(["systemctl", "--quiet", verb, *UNITS], check=False, stdout=subprocess.DEVNULL)
    return found


def _set(node: Node, options: dict[str, Any], audit: Audit) -> int:
    """Calls of SetUnitProperties."""
    audit.count(lambda: workflow.execute(node, planned(node, options), Clock()))
    return sum("SetUnitProperties" in command for command in audit.commands)


def main(count: int = PODS, rounds: int = ROUNDS) -> int:
    apart = tempfile.mkdtemp(prefix="colocation-qos-")
    host, audit = Apart(apart), Audit()
    try:
        with own_cgroup() as top:
            pods = made(host, top, count)
            one_round(pods, 1, audit.count)
            found = [one_round(pods, number, audit.count) for number in range(rounds)]
        print(json.dumps({**report(pods, found), "units": calls(host, audit)}))
    finally:
        shutil.rmtree(apart)
    return 0


if __name__ == "__main__":
    sys.exit(main())
