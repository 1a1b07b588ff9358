# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that reports where kubelet's own code and runc's library put the cgroups of pods and containers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.judges import go_sources
from ansible_collections.volcano.colocation.tests.lab.cache import Cache

FAMILY = "kubernetes-1.35"
SOURCE = Path(__file__).resolve().parent / "cgroups" / "main.go"
V1 = (
    "cpu,cpuacct",
    "cpuset",
    "memory",
    "devices",
    "freezer",
    "blkio",
    "pids",
    "hugetlb",
    "net_cls,net_prio",
    "name=systemd",
)
"""Hierarchies of v1 as systemd mounts them."""


def obtain(cache: Cache) -> Path:
    """The program, built unless the cache has it."""
    return go_sources.obtain(cache, "cgroup-names", FAMILY, (SOURCE,))


def v1_mounts() -> str:
    """mountinfo of a node with cgroup v1."""
    root = "30 1 0:30 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
    return root + "".join(
        f"{31 + number} 30 0:{31 + number} / /sys/fs/cgroup/{name.removeprefix('name=')} rw,nosuid - cgroup cgroup"
        f" rw,{name}\n"
        for number, name in enumerate(V1)
    )


def run_program(program: Path, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A response for each question."""
    text = "".join(json.dumps(line) + "\n" for line in (v1_mounts(), *questions))
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(responses) == len(questions)
    return responses
