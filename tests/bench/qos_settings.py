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
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.qos import engine
from ansible_collections.volcano.colocation.plugins.module_utils.qos.apply import carry_out
from ansible_collections.volcano.colocation.plugins.module_utils.qos.request import cgroups, node, request
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.clock import Clock
from ansible_collections.volcano.colocation.plugins.modules.cgroup_qos import ARGUMENTS

PODS, ROUNDS = 500, 5
MEMORY = "/dev/shm"
ROOT = "/cgroups"
CLASS = "kubepods.slice/kubepods-besteffort.slice"
CONTROLLERS = "cpuset cpu io memory hugetlb pids"


@dataclass(frozen=True)
class Side:
    """Settings, and what has to be in the files then."""

    settings: Mapping[str, Any]
    texts: Mapping[str, str]


SIDES = (
    Side(
        {
            "cpu_weight": 20,
            "cpu_quota": "1.5",
            "cpu_burst": "20ms",
            "memory_high": "1Gi",
            "memory_max": "2Gi",
            "pids_max": 500,
        },
        {
            "cpu.weight": "20",
            "cpu.max": "150000 100000",
            "cpu.max.burst": "20000",
            "memory.high": "1073741824",
            "memory.max": "2147483648",
            "pids.max": "500",
        },
    ),
    Side(
        {
            "cpu_weight": 10,
            "cpu_quota": "1",
            "cpu_burst": "10ms",
            "memory_high": "512Mi",
            "memory_max": "1Gi",
            "pids_max": 250,
        },
        {
            "cpu.weight": "10",
            "cpu.max": "100000 100000",
            "cpu.max.burst": "10000",
            "memory.high": "536870912",
            "memory.max": "1073741824",
            "pids.max": "250",
        },
    ),
)
"""Every setting has another value on the other side, so that each is written."""


class Pods:
    """A node with nothing but the cgroups of pods, as cgroup v2 and kubelet's systemd driver name them."""

    def __init__(self, folder: Path, count: int, side: Side) -> None:
        self.folder = folder
        self.host = Host(str(folder))
        top = folder / ROOT.lstrip("/")
        names = [f"{CLASS}/kubepods-besteffort-pod{number:032x}.slice" for number in range(count)]
        for cgroup in ("", *names):
            (top / cgroup).mkdir(parents=True, exist_ok=True)
            (top / cgroup / "cgroup.controllers").write_text(CONTROLLERS + "\n")
        self.files = [(str(top / name / file), file) for name in names for file in side.texts]
        self.bare(side)

    def bare(self, side: Side) -> None:
        """The writes of a side, and nothing else."""
        for path, file in self.files:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.write(handle, (side.texts[file] + "\n").encode())
            os.close(handle)

    def read_back(self, _side: Side) -> None:
        """What is in the files, and nothing else."""
        for path, _file in self.files:
            handle = os.open(path, os.O_RDONLY)
            os.read(handle, 4096).decode()
            os.close(handle)

    def plan(self, side: Side) -> engine.Plan:
        """What cgroup_qos would do."""
        given = {"qos_class": "besteffort", "level": "pods", "cgroup_driver": "systemd", "cgroup_root": ROOT}
        checked = ArgumentSpecValidator(ARGUMENTS).validate({**given, "settings": side.settings})
        if checked.error_messages:
            raise SystemExit("; ".join(checked.error_messages))
        options = checked.validated_parameters
        at = node(self.host, ROOT)
        return engine.plan(at, cgroups(self.host, at.hierarchies, options), request(self.host, options), lambda _: None)

    def carry_out(self, plan: engine.Plan) -> None:
        """The raw backend: the writes of a plan in their order, and the proof that they show."""
        known = {cgroup: state.texts for cgroup, state in plan.states.items()}
        carry_out(node(self.host, ROOT), plan.steps, known, Clock())

    def run(self, side: Side) -> None:
        """All that cgroup_qos does, without what Ansible does for every module."""
        engine.execute(node(self.host, ROOT), self.plan(side), Clock())

    def all_files(self) -> Iterator[Path]:
        """Those of the cgroups, the record of settings and whatever else was made."""
        return (path for path in self.folder.rglob("*") if path.is_file())

    def wrong(self, side: Side) -> list[str]:
        """Files that do not say what they should."""
        return [path for path, file in self.files if Path(path).read_text() != side.texts[file] + "\n"]


def forget_times(files: Iterable[Path]) -> None:
    for path in files:
        os.utime(path, (0, 0))


def written(files: Iterable[Path]) -> int:
    """How many of the files were written, by whatever way, since their times were forgotten."""
    return sum(path.stat().st_mtime_ns != 0 for path in files)


def measured(pods: Pods, side: Side, work: Callable[[], None]) -> tuple[float, int]:
    """CPU milliseconds of a work that has to end with the values of ``side``, and how many files it wrote."""
    forget_times(pods.all_files())
    began = time.process_time()
    work()
    took = (time.process_time() - began) * 1000
    if pods.wrong(side):
        raise SystemExit(f"{len(pods.wrong(side))} files do not say what was written, such as {pods.wrong(side)[0]}")
    return round(took, 2), written(pods.all_files())


def one_round(pods: Pods, number: int) -> dict[str, Any]:
    """Each stage writes every file, but the reading and the second run; every other round the raw backend begins."""
    first, second = SIDES[number % 2], SIDES[1 - number % 2]

    def bare(side: Side) -> tuple[float, int]:
        return measured(pods, side, lambda: pods.bare(side))

    def raw(side: Side) -> tuple[float, int]:
        plan = pods.plan(side)
        return measured(pods, side, lambda: pods.carry_out(plan))

    turns = {"bare": bare, "raw": raw}
    order = list(turns) if number % 2 == 0 else list(reversed(turns))
    found = {name: turns[name](side) for name, side in zip(order, (first, second), strict=True)}
    found["read"] = measured(pods, second, lambda: pods.read_back(second))
    found["whole"] = measured(pods, first, lambda: pods.run(first))
    found["again"] = measured(pods, first, lambda: pods.run(first))
    return {name: {"cpu_ms": took, "written": count} for name, (took, count) in found.items()}


def main(count: int = PODS, rounds: int = ROUNDS) -> int:
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="colocation-qos-", dir=memory))
    try:
        pods = Pods(folder, count, SIDES[1])
        found = [one_round(pods, number) for number in range(rounds)]
    finally:
        shutil.rmtree(folder)
    print(json.dumps({"pods": count, "settings": len(SIDES[0].settings), "rounds": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
