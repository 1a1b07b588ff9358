# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of settings on pods, wherever their cgroups are: on this machine or, by qos_node.py, on a node.

Nothing is needed but the standard library and what our modules bring with them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos.setting_request import (
    kubelet_cgroups,
    parse_request,
)
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.settings import workflow
from ansible_collections.volcano.colocation.plugins.module_utils.settings.apply import apply_steps
from ansible_collections.volcano.colocation.plugins.module_utils.settings.cgroup_state import Node

OPTIONS: Mapping[str, Any] = {
    "qos_class": None,
    "level": "class",
    "slice": None,
    "pod": None,
    "path": None,
    "settings": None,
    "state": "present",
    "unsupported": "fail",
    "persistent": True,
    "cpus": None,
    "memory": None,
    "cgroup_driver": "auto",
    "kubelet_cgroup_root": "/",
    "kubelet_root_dir": "/var/lib/kubelet",
    "kubelet_version": None,
    "memory_qos": None,
    "cgroup_root": "/sys/fs/cgroup",
}
"""Of cgroup_qos, as Ansible fills them in."""


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


def planned(node: Node, given: Mapping[str, Any]) -> workflow.Plan:
    """What cgroup_qos would do with these options."""
    options = {**OPTIONS, **given}
    found = kubelet_cgroups(node.host, node.hierarchies, options)
    return workflow.plan(node, found, parse_request(node.host, options), lambda _pod: None)


@dataclass(frozen=True)
class Pods:
    """Cgroups of pods below ``top``, and the options of cgroup_qos that mean all of them."""

    node: Node
    top: Path
    names: Sequence[str]
    options: Mapping[str, Any]

    @property
    def files(self) -> list[tuple[str, str]]:
        """The path and the name of each file that a setting is in."""
        return [(str(self.top / name / file), file) for name in self.names for file in SIDES[0].texts]

    def plan(self, side: Side) -> workflow.Plan:
        return planned(self.node, {**self.options, "settings": side.settings})

    def carry_out(self, plan: workflow.Plan) -> None:
        """The raw backend: the writes of a plan in their order, and the proof that they show."""
        apply_steps(self.node, plan.steps, {cgroup: state.texts for cgroup, state in plan.states.items()}, Clock())

    def run(self, side: Side) -> None:
        """All that cgroup_qos does, without what Ansible does for every module."""
        workflow.execute(self.node, self.plan(side), Clock())

    def wrong(self, side: Side) -> list[str]:
        """Files that do not say what they should."""
        return [path for path, file in self.files if Path(path).read_text() != side.texts[file] + "\n"]


def bare(files: Sequence[tuple[str, str]], side: Side) -> None:
    """The writes of a side, and nothing else."""
    for path, file in files:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(handle, (side.texts[file] + "\n").encode())
        os.close(handle)


def read_back(files: Sequence[tuple[str, str]]) -> None:
    """What is in the files, and nothing else."""
    for path, _file in files:
        handle = os.open(path, os.O_RDONLY)
        os.read(handle, 4096).decode()
        os.close(handle)


Count = Callable[[Callable[[], None]], int]
"""Runs something, and tells how many files it wrote."""


def measured(pods: Pods, side: Side, work: Callable[[], None], count: Count) -> dict[str, Any]:
    """CPU milliseconds of a work that has to end with the values of ``side``, and how many files it wrote."""
    spent: list[float] = []

    def timed() -> None:
        began = time.process_time()
        work()
        spent.append((time.process_time() - began) * 1000)

    written = count(timed)
    wrong = pods.wrong(side)
    if wrong:
        raise SystemExit(f"{len(wrong)} files do not say what was written, such as {wrong[0]}")
    return {"cpu_ms": round(spent[0], 2), "written": written}


def one_round(pods: Pods, number: int, count: Count) -> dict[str, Any]:
    """Each stage writes every file, but the reading and the second run; every other round the raw backend begins."""
    first, second = SIDES[number % 2], SIDES[1 - number % 2]
    files = pods.files

    def by_loop(side: Side) -> dict[str, Any]:
        return measured(pods, side, lambda: bare(files, side), count)

    def raw(side: Side) -> dict[str, Any]:
        plan = pods.plan(side)
        return measured(pods, side, lambda: pods.carry_out(plan), count)

    turns = {"bare": by_loop, "raw": raw}
    order = list(turns) if number % 2 == 0 else list(reversed(turns))
    found = {name: turns[name](side) for name, side in zip(order, (first, second), strict=True)}
    found["read"] = measured(pods, second, lambda: read_back(files), count)
    found["whole"] = measured(pods, first, lambda: pods.run(first), count)
    found["again"] = measured(pods, first, lambda: pods.run(first), count)
    return found


def report(pods: Pods, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"pods": len(pods.names), "settings": len(SIDES[0].settings), "rounds": rounds}
