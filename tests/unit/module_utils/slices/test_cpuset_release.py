# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup import safe_path
from ansible_collections.volcano.colocation.plugins.module_utils.slices.cgroup_controllers import release_cpusets
from ansible_collections.volcano.colocation.plugins.module_utils.slices.properties import (
    Setting,
    default_setting,
    parse_setting,
)
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_values import Machine
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import V2

ENDED = (default_setting("AllowedCPUs"), default_setting("CPUWeight"))
MACHINE = Machine(1, 4096, 1)


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Path:
    directory = tmp_path / "sys/fs/cgroup/a.slice/a-b.slice"
    directory.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(V2)
    (tmp_path / "sys/fs/cgroup/cgroup.controllers").write_text("cpuset cpu\n")
    (tmp_path / "sys/fs/cgroup/a.slice/cpuset.cpus.effective").write_text("0-5\n")
    (directory / "cpuset.cpus").write_text("2\n")
    (directory / "cpuset.mems").write_text("0\n")
    return tmp_path


def cpus(node: Path) -> str:
    return (node / "sys/fs/cgroup/a.slice/a-b.slice/cpuset.cpus").read_text()


def test_an_ended_restriction_is_cleared_and_no_other(node: Path) -> None:
    release_cpusets(AnsweringHost(node), "a-b.slice", ENDED)
    assert cpus(node) == "\n"
    assert (node / "sys/fs/cgroup/a.slice/a-b.slice/cpuset.mems").read_text() == "0\n"


@pytest.mark.parametrize(
    "pushed", [(), (parse_setting("AllowedCPUs", "2", MACHINE),), (default_setting("AllowedMemoryNodes"),)]
)
def test_other_settings_stay(node: Path, pushed: tuple[Setting, ...]) -> None:
    release_cpusets(AnsweringHost(node), "a-b.slice", pushed)
    assert cpus(node) == "2\n"


def test_a_populated_cgroup_gets_the_list_of_its_parent(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file cannot refuse an empty list as kernel/cgroup/cpuset.c validate_change() does."""
    write = safe_path.write

    def kernel(directory: int, name: str, text: str) -> None:
        if not text.strip():
            raise OSError(28, os.strerror(28))
        write(directory, name, text)

    monkeypatch.setattr(safe_path, "write", kernel)
    release_cpusets(AnsweringHost(node), "a-b.slice", ENDED)
    assert cpus(node) == "0-5\n"


def test_without_the_controller_there_is_nothing_to_clear(node: Path) -> None:
    (node / "sys/fs/cgroup/a.slice/a-b.slice/cpuset.cpus").unlink()
    release_cpusets(AnsweringHost(node), "a-b.slice", ENDED)
    assert not (node / "sys/fs/cgroup/a.slice/a-b.slice/cpuset.cpus").exists()
