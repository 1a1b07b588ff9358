# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures settings on pods, whose cgroups are on this machine or, with qos_node.py, on a node.

Needs only the standard library and the code that the collection's modules send to a node.
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
"""Options of cgroup_qos with Ansible's defaults."""


@dataclass(frozen=True)
class Side:
    """Settings, and the resulting contents of the files."""

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
"""Every setting differs between the two sides, so that each one is written."""


def make_plan(node: Node, explicit: Mapping[str, Any]) -> workflow.Plan:
    """The plan of cgroup_qos with these options."""
    options = {**OPTIONS, **explicit}
    cgroups = kubelet_cgroups(node.host, node.hierarchies, options)
    return workflow.plan(node, cgroups, parse_request(node.host, options), lambda _pod: None)


@dataclass(frozen=True)
class Pods:
    """Cgroups of pods below ``top``, and the options of cgroup_qos that select all of them."""

    node: Node
    top: Path
    names: Sequence[str]
    options: Mapping[str, Any]

    @property
    def files(self) -> list[tuple[str, str]]:
        """The path and the name of each file with a setting."""
        return [(str(self.top / name / file), file) for name in self.names for file in SIDES[0].texts]

    def plan(self, side: Side) -> workflow.Plan:
        return make_plan(self.node, {**self.options, "settings": side.settings})

    def write_raw(self, plan: workflow.Plan) -> None:
        """The raw backend: write the files of a plan in order, and check them."""
        apply_steps(self.node, plan.steps, {cgroup: state.texts for cgroup, state in plan.states.items()}, Clock())

    def run(self, side: Side) -> None:
        """Everything that cgroup_qos does, without Ansible's own work for a module."""
        workflow.execute(self.node, self.plan(side), Clock())

    def wrong(self, side: Side) -> list[str]:
        """Files whose content is not that of ``side``."""
        return [path for path, file in self.files if Path(path).read_text() != side.texts[file] + "\n"]


def bare(files: Sequence[tuple[str, str]], side: Side) -> None:
    """Only the writes of a side."""
    for path, file in files:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(handle, (side.texts[file] + "\n").encode())
        os.close(handle)


def read_back(files: Sequence[tuple[str, str]]) -> None:
    """Only read the files."""
    for path, _file in files:
        handle = os.open(path, os.O_RDONLY)
        os.read(handle, 4096).decode()
        os.close(handle)


Count = Callable[[Callable[[], None]], int]
"""Runs a function, and returns the number of files that it wrote."""


def measured(pods: Pods, side: Side, work: Callable[[], None], count: Count) -> dict[str, Any]:
    """CPU milliseconds and written files of ``work``; SystemExit unless the files then have the values of ``side``."""
    spent: list[float] = []

    def timed() -> None:
        began = time.process_time()
        work()
        spent.append((time.process_time() - began) * 1000)

    written = count(timed)
    wrong = pods.wrong(side)
    if wrong:
        raise SystemExit(f"{len(wrong)} files do not have the written content, such as {wrong[0]}")
    return {"cpu_ms": round(spent[0], 2), "written": written}


def one_round(pods: Pods, number: int, count: Count) -> dict[str, Any]:
    """Measure each stage. All write every file except ``read`` and ``again``; bare loop and raw backend take turns."""
    first, second = SIDES[number % 2], SIDES[1 - number % 2]
    files = pods.files

    def by_loop(side: Side) -> dict[str, Any]:
        return measured(pods, side, lambda: bare(files, side), count)

    def raw(side: Side) -> dict[str, Any]:
        plan = pods.plan(side)
        return measured(pods, side, lambda: pods.write_raw(plan), count)

    runners = {"bare": by_loop, "raw": raw}
    order = list(runners) if number % 2 == 0 else list(reversed(runners))
    results = {name: runners[name](side) for name, side in zip(order, (first, second), strict=True)}
    results["read"] = measured(pods, second, lambda: read_back(files), count)
    results["whole"] = measured(pods, first, lambda: pods.run(first), count)
    results["again"] = measured(pods, first, lambda: pods.run(first), count)
    return results


def report(pods: Pods, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"pods": len(pods.names), "settings": len(SIDES[0].settings), "rounds": rounds}
