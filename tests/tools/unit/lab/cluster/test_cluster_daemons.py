# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster import daemons
from ansible_collections.volcano.colocation.tests.lab.cluster.components import Component

UUID = "6a1f0c9e-0000-4000-8000-00000000c7c7"
OTHER = "6a1f0c9e-0000-4000-8000-00000000c7c8"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    daemons.end(UUID)
    daemons.end(OTHER)


def start(directory: Path, name: str, uuid: str, program: str, *words: str) -> Path:
    """A program under another name; its log."""
    shutil.copy(program, directory / name)
    daemons.start(Component(name, (str(directory / name), *words), 1), uuid, directory, directory / f"{name}.log")
    return directory / f"{name}.log"


def test_running_processes_are_identified_by_their_mark(directory: Path) -> None:
    start(directory, "etcd", UUID, "/bin/sleep", "60")
    start(directory, "kube-apiserver", OTHER, "/bin/sleep", "60")
    assert list(daemons.running(UUID)) == ["etcd"]
    assert list(daemons.running(OTHER)) == ["kube-apiserver"]


def test_all_processes_of_one_program_are_ended(directory: Path) -> None:
    first = start(directory, "agent", UUID, "/bin/sleep", "60")
    program = first.with_name("agent")
    daemons.start(Component("agent", (str(program), "61"), 1), UUID, directory, first)
    daemons.end(UUID)
    assert daemons.running(UUID) == {}


def test_another_control_plane_is_left_alone(directory: Path) -> None:
    start(directory, "etcd", UUID, "/bin/sleep", "60")
    start(directory, "kube-apiserver", OTHER, "/bin/sleep", "60")
    daemons.end(UUID)
    assert daemons.running(UUID) == {}
    assert list(daemons.running(OTHER)) == ["kube-apiserver"]


def test_output_of_earlier_starts_is_kept(directory: Path) -> None:
    for number in (1, 2):
        log = start(directory, "etcd", UUID, "/bin/sh", "-c", f"echo {number}")
        deadline = time.monotonic() + 10
        while f"{number}\n" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert log.read_text() == "1\n2\n"


def test_a_process_that_is_gone_does_not_run(directory: Path) -> None:
    start(directory, "etcd", UUID, "/bin/false")
    deadline = time.monotonic() + 10
    while daemons.running(UUID) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert daemons.running(UUID) == {}
