# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the cost of settings on cgroups of a real node, and the number of calls that set properties of a unit.

Runs on the node as root, in a service with a delegated cgroup (Delegate=yes), and creates the pods' cgroups below it.
The files of cgroup_qos go to a separate directory, so that the node's record and units do not change.
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
from ansible_collections.volcano.colocation.tests.bench.qos_work import Pods, make_plan, one_round, report

PODS, ROUNDS = 120, 5
MOUNT = "/sys/fs/cgroup"
CONTROLLERS = "+cpu +memory +pids"
COLLECTION_DIRECTORIES = (
    "/var/lib/volcano-colocation",
    "/usr/local/lib/volcano-colocation",
    "/etc/systemd/system/volcano-colocation",
)
UNITS = tuple(f"colocationbench-unit{number}.slice" for number in range(3))
OF_UNITS = {
    "cpu_weight": 20,
    "cpu_quota": "0.5",
    "memory_low": "16Mi",
    "memory_high": "96Mi",
    "memory_max": "128Mi",
    "pids_max": 250,
}
"""Settings that are all properties of systemd units."""


class SeparateState(Host):
    """The node, with the collection's own files below another directory."""

    def __init__(self, directory: str) -> None:
        super().__init__("/")
        self._folder = directory

    def path(self, path: str) -> str:
        return self._folder + path if path.startswith(COLLECTION_DIRECTORIES) else super().path(path)


class Audit:
    """Counts written files and commands of this process by CPython's audit events (sys.addaudithook, PEP 578)."""

    def __init__(self) -> None:
        self._counting = False
        self.written = 0
        self.commands: list[list[str]] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._counting:
            return
        if event == "open":
            path, _mode, flags = arguments
            self.written += flags & os.O_ACCMODE != os.O_RDONLY and path != os.devnull
        elif event == "subprocess.Popen":
            self.commands.append(list(arguments[1]))

    def count(self, work: Callable[[], None]) -> int:
        """The number of files that ``work`` opened for writing; files of the kernel do not change their times."""
        self.written, self.commands, self._counting = 0, [], True
        try:
            work()
        finally:
            self._counting = False
        return self.written


def make_pods(host: Host, top: Path, count: int) -> Pods:
    """Create cgroups of pods below the directory of a cgroup that has no process."""
    own = str(top)[len(MOUNT) :]
    middle = ("", "kubepods", "kubepods/besteffort")
    for cgroup in middle:
        (top / cgroup).mkdir(exist_ok=True)
        (top / cgroup / "cgroup.subtree_control").write_text(CONTROLLERS)
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
    """The directory of this process's cgroup; the process moves into a cgroup below it."""
    top = Path(MOUNT + Path("/proc/self/cgroup").read_text().rstrip("\n").rpartition("::")[2])
    (top / "bench").mkdir()
    (top / "bench" / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield top
    finally:
        for directory, _names, _files in os.walk(top / "kubepods", topdown=False):
            os.rmdir(directory)


def calls(host: Host, audit: Audit) -> list[dict[str, int]]:
    """For each unit: the number of calls that set its properties in the first and in the second run."""
    bus = Bus(host)
    node = Node(host, hierarchies(host), bus, bus.version())
    counts = []
    try:
        for unit in UNITS:
            bus.start(unit)
            options = {"slice": unit, "settings": OF_UNITS, "persistent": False}
            first, second = (_set(node, options, audit) for _run in range(2))
            counts.append({"calls": first, "again": second})
    finally:
        for verb in ("stop", "revert"):
            subprocess.run(["systemctl", "--quiet", verb, *UNITS], check=False, stdout=subprocess.DEVNULL)
    return counts


def _set(node: Node, options: dict[str, Any], audit: Audit) -> int:
    """The number of SetUnitProperties calls."""
    audit.count(lambda: workflow.execute(node, make_plan(node, options), Clock()))
    return sum("SetUnitProperties" in command for command in audit.commands)


def main(count: int = PODS, rounds: int = ROUNDS) -> int:
    directory = tempfile.mkdtemp(prefix="colocation-qos-")
    host, audit = SeparateState(directory), Audit()
    try:
        with own_cgroup() as top:
            pods = make_pods(host, top, count)
            one_round(pods, 1, audit.count)
            results = [one_round(pods, number, audit.count) for number in range(rounds)]
        print(json.dumps({**report(pods, results), "units": calls(host, audit)}))
    finally:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
