# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.accel import Accelerator
from ansible_collections.volcano.colocation.tests.lab.machine import Machine
from ansible_collections.volcano.colocation.tests.lab.qemu import arguments

TCG = Accelerator.TCG
MACHINE = Machine(
    name="one",
    uuid="6a1f0c9e-0000-4000-8000-000000000001",
    directory=Path("/state/one"),
    kernel=Path("/cache/vmlinuz"),
    kernel_line="console=ttyS0",
    base=Path("/cache/disk.raw"),
    subnet=12,
    cpus=4,
    memory=2048,
    numa=1,
)


def option(words: list[str], name: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == name]


def test_ssh_is_reachable_from_this_machine_only() -> None:
    (network,) = option(arguments(MACHINE, TCG, 2201), "-netdev")
    assert "hostfwd=tcp:127.0.0.1:2201-:22" in network
    assert "net=10.0.12.0/24" in network


def test_a_comma_in_the_path_of_the_disk_is_escaped() -> None:
    (disk,) = option(arguments(dataclasses.replace(MACHINE, directory=Path("/a,b")), TCG, 1), "-drive")
    assert disk.endswith("file=/a,,b/disk.qcow2")


def test_the_base_is_not_locked() -> None:
    (disk,) = option(arguments(MACHINE, TCG, 1), "-drive")
    assert "backing.file.locking=off" in disk.split(",")


def test_the_machine_can_be_identified() -> None:
    assert option(arguments(MACHINE, TCG, 1), "-uuid") == [MACHINE.uuid]


def test_socket_paths_are_short_in_deep_directories() -> None:
    words = arguments(dataclasses.replace(MACHINE, directory=Path("/" + "x" * 200)), TCG, 1)
    assert option(words, "-qmp") == ["unix:monitor.sock,server=on,wait=off"]
    assert "path=serial.sock" in option(words, "-chardev")[0]


@pytest.mark.parametrize(
    ("numa", "nodes"),
    [
        (1, []),
        (2, ["node,nodeid=0,cpus=0-1,memdev=memory0", "node,nodeid=1,cpus=2-3,memdev=memory1"]),
        (4, [f"node,nodeid={node},cpus={node}-{node},memdev=memory{node}" for node in range(4)]),
    ],
)
def test_cpus_and_memory_are_spread_over_the_numa_nodes(numa: int, nodes: list[str]) -> None:
    words = arguments(dataclasses.replace(MACHINE, numa=numa), TCG, 1)
    assert option(words, "-numa") == nodes
    assert [value.rpartition("=")[2] for value in option(words, "-object")] == [f"{2048 // numa}M"] * len(nodes)
    assert option(words, "-smp") == [f"4,sockets={numa},cores={4 // numa},threads=1"]


def test_the_chosen_accelerator_is_used() -> None:
    assert option(arguments(MACHINE, TCG, 1), "-accel")[0].startswith("tcg")
    assert option(arguments(MACHINE, Accelerator.KVM, 1), "-accel") == ["kvm"]
