# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""On cgroup v1 a slice is in each controller that it was asked for, after a reboot too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, lab, throwaway
from ansible_collections.volcano.colocation.tests.system.slices import changed, traces

NAME = "slices-v1"
SPEC = ("--suite", "bookworm", "--cgroup", "v1", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")


@pytest.fixture(scope="module", name="v1")
def _v1(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


def test_on_v1_it_is_in_every_controller_after_a_reboot_too(v1: Node) -> None:
    wanted = {"controllers": ["cpu", "cpuset", "memory", "pids"], "properties": {"CPUWeight": 300, "MemoryMax": "256M"}}
    there = [
        # 300 * 1024 / 100: systemd src/core/cgroup.c.
        ("cpu", "cpu.shares", "3072"),
        ("memory", "memory.limit_in_bytes", "268435456"),
        ("cpuset", "cpuset.mems", "0"),
        ("pids", "pids.max", "max"),
    ]
    folder = "colocation.slice/colocation-agents.slice"
    command = "cat " + " ".join(f"/sys/fs/cgroup/{controller}/{folder}/{file}" for controller, file, _value in there)
    assert changed(v1, **wanted) == 1
    assert changed(v1, **wanted) == 0
    assert v1.shell(command).split() == [value for _controller, _file, value in there]
    lab("reboot", v1.name)
    assert v1.shell(command).split() == [value for _controller, _file, value in there]
    assert changed(v1, **wanted) == 0
    assert changed(v1, state="absent") == 1
    assert traces(v1) == ""
