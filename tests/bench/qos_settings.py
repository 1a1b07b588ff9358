# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the CPU milliseconds of settings on many pods, and how many files the second run writes.

`python -P tests/bench/qos_settings.py`, with the collection on PYTHONPATH. The pods are directories of plain files, in
memory where possible, so that almost only the collection's own work is measured.
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


def make_pods(directory: Path, count: int) -> Pods:
    """Create a node with only the cgroups of pods, as cgroup v2 and kubelet's systemd driver name them."""
    top = directory / ROOT.lstrip("/")
    names = [f"{CLASS}/kubepods-besteffort-pod{number:032x}.slice" for number in range(count)]
    for cgroup in ("", *names):
        (top / cgroup).mkdir(parents=True, exist_ok=True)
        (top / cgroup / "cgroup.controllers").write_text(CONTROLLERS + "\n")
    options = {"qos_class": "besteffort", "level": "pods", "cgroup_driver": "systemd", "cgroup_root": ROOT}
    pods = Pods(observe_node(Host(str(directory)), ROOT), top, names, options)
    bare(pods.files, SIDES[1])
    return pods


def counted_in(directory: Path) -> Count:
    """A function that counts written files below a directory by their times."""

    def count(work: Callable[[], None]) -> int:
        forget_times(path for path in directory.rglob("*") if path.is_file())
        work()
        return written(path for path in directory.rglob("*") if path.is_file())

    return count


def forget_times(files: Iterable[Path]) -> None:
    for path in files:
        os.utime(path, (0, 0))


def written(files: Iterable[Path]) -> int:
    """The number of files that were written since ``forget_times``."""
    return sum(path.stat().st_mtime_ns != 0 for path in files)


def main(count: int = PODS, rounds: int = ROUNDS) -> int:
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    directory = Path(tempfile.mkdtemp(prefix="colocation-qos-", dir=memory))
    try:
        pods = make_pods(directory, count)
        results = [one_round(pods, number, counted_in(directory)) for number in range(rounds)]
    finally:
        shutil.rmtree(directory)
    print(json.dumps(report(pods, results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
