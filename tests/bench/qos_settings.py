# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what settings on many pods cost in CPU milliseconds, and how many files the second run writes.

`python -P tests/bench/qos_settings.py`, with the collection on PYTHONPATH. The pods are folders of plain files, in
memory where possible, so that next to nothing but our own work is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos.setting_request import observe_node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.tests.bench.qos_work import SIDES, Count, Pods, bare, one_round, report

PODS, ROUNDS = 500, 5
MEMORY = "/dev/shm"
ROOT = "/cgroups"
CLASS = "kubepods.slice/kubepods-besteffort.slice"
CONTROLLERS = "cpuset cpu io memory hugetlb pids"


def made(folder: Path, count: int) -> Pods:
    """A node with nothing but the cgroups of pods, as cgroup v2 and kubelet's systemd driver name them."""
    top = folder / ROOT.lstrip("/")
    names = [f"{CLASS}/kubepods-besteffort-pod{number:032x}.slice" for number in range(count)]
    for cgroup in ("", *names):
        (top / cgroup).mkdir(parents=True, exist_ok=True)
        (top / cgroup / "cgroup.controllers").write_text(CONTROLLERS + "\n")
    options = {"qos_class": "besteffort", "level": "pods", "cgroup_driver": "systemd", "cgroup_root": ROOT}
    pods = Pods(observe_node(Host(str(folder)), ROOT), top, names, options)
    bare(pods.files, SIDES[1])
    return pods


def counted_in(folder: Path) -> Count:
    """Counts the files below a folder that are written, by whatever way, by their times."""

    def count(work: Callable[[], None]) -> int:
        forget_times(path for path in folder.rglob("*") if path.is_file())
        work()
        return written(path for path in folder.rglob("*") if path.is_file())

    return count


def forget_times(files: Iterable[Path]) -> None:
    for path in files:
        os.utime(path, (0, 0))


def written(files: Iterable[Path]) -> int:
    """How many of the files were written since their times were forgotten."""
    return sum(path.stat().st_mtime_ns != 0 for path in files)


def main(count: int = PODS, rounds: int = ROUNDS) -> int:
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="colocation-qos-", dir=memory))
    try:
        pods = made(folder, count)
        found = [one_round(pods, number, counted_in(folder)) for number in range(rounds)]
    finally:
        shutil.rmtree(folder)
    print(json.dumps(report(pods, found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
