# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroups of a slice that systemd does not make: a real shell runs the script on a tree of files."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import Hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.slices import cgroup_controllers
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost

V1 = Hierarchies("v1", {"cpuset": "/sys/fs/cgroup/cpuset", "hugetlb": "/sys/fs/cgroup/hugetlb"})
V2 = Hierarchies("v2", {"cpuset": "/sys/fs/cgroup", "hugetlb": "/sys/fs/cgroup"})


def files(root: Path, texts: dict[str, str]) -> Path:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def run(root: Path, unit: str, *controllers: str) -> None:
    helper = cgroup_controllers.controller_unit(unit, controllers)
    assert helper is not None
    subprocess.run(helper.script(str(root)), check=True)


def test_controllers_of_systemd_need_no_unit() -> None:
    assert cgroup_controllers.controller_unit("a.slice", ("cpu", "memory", "pids", "io")) is None


def test_v1_cpusets_are_filled_from_above_level_by_level(tmp_path: Path) -> None:
    root = files(tmp_path, {"cpuset/cpuset.cpus": "0-3\n", "cpuset/cpuset.mems": "0\n", "hugetlb/x": ""})
    run(root, "a-b.slice", "cpuset", "hugetlb", "rdma")
    assert (root / "cpuset/a.slice/a-b.slice/cpuset.cpus").read_text() == "0-3\n"
    assert (root / "cpuset/a.slice/a-b.slice/cpuset.mems").read_text() == "0\n"
    assert (root / "hugetlb/a.slice/a-b.slice").is_dir()
    assert not (root / "rdma").exists()


def test_a_cpuset_that_has_cpus_keeps_them(tmp_path: Path) -> None:
    above = {"cpuset/cpuset.cpus": "0-3\n", "cpuset/cpuset.mems": "0\n"}
    root = files(tmp_path, {**above, "cpuset/a.slice/cpuset.cpus": "2\n", "cpuset/a.slice/cpuset.mems": "0\n"})
    run(root, "a.slice", "cpuset")
    assert (root / "cpuset/a.slice/cpuset.cpus").read_text() == "2\n"


def test_on_v2_the_levels_above_enable_it(tmp_path: Path) -> None:
    root = files(
        tmp_path, {"cgroup.controllers": "", "cgroup.subtree_control": "", "a.slice/cgroup.subtree_control": ""}
    )
    (root / "a.slice/a-b.slice").mkdir()
    run(root, "a-b.slice", "hugetlb")
    assert (root / "cgroup.subtree_control").read_text() == "+hugetlb\n"
    assert (root / "a.slice/cgroup.subtree_control").read_text() == "+hugetlb\n"
    assert list((root / "a.slice/a-b.slice").iterdir()) == []


def test_the_unit_starts_the_same_script() -> None:
    """systemd.service(5): in a command line $$ is a dollar sign, %% a percent sign, and backslashes escape."""
    helper = cgroup_controllers.ControllerUnit(r"a\x2db-c.slice", ("cpuset",))
    text = helper.text()
    (line,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    words = shlex.split(line[len("ExecStart=") :])
    assert tuple(word.replace("$$", "$").replace("%%", "%") for word in words) == helper.script()
    assert r"Before=a\x2db-c.slice slices.target kubelet.service" in text
    assert "After=a\\x2db.slice\n" in text
    assert helper.path == r"/etc/systemd/system/volcano-colocation-cgroups-a\x2db-c.service"


@pytest.mark.parametrize(
    ("tree", "texts", "missing"),
    [
        (
            V1,
            {},
            {
                "cpuset": "the slice has no cgroup in this controller",
                "hugetlb": "the slice has no cgroup in this controller",
            },
        ),
        (
            V1,
            {"cpuset/a.slice/cpuset.cpus": "\n", "cpuset/a.slice/cpuset.mems": "0\n", "hugetlb/a.slice/x": ""},
            {"cpuset": "it has no CPUs or no memory nodes yet"},
        ),
        (
            V1,
            {"cpuset/a.slice/cpuset.cpus": "0\n", "cpuset/a.slice/cpuset.mems": "0\n", "hugetlb/a.slice": ""},
            {"hugetlb": "its path is not a directory"},
        ),
        (V2, {"a.slice/cgroup.controllers": "cpuset cpu\n"}, {"hugetlb": "it is not enabled above the slice"}),
    ],
)
def test_missing_controllers(tmp_path: Path, tree: Hierarchies, texts: dict[str, str], missing: dict[str, str]) -> None:
    files(tmp_path / "sys/fs/cgroup", texts)
    assert (
        cgroup_controllers.missing_controllers(AnsweringHost(tmp_path), tree, "a.slice", ["cpuset", "hugetlb"])
        == missing
    )


def test_a_controller_of_another_node_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ColocationError, match="this node has no controller pids"):
        cgroup_controllers.missing_controllers(AnsweringHost(tmp_path), V1, "a.slice", ["pids"])


def test_properties_without_a_limit_enable_controllers() -> None:
    controllers = ["cpu", "cpuset", "memory", "pids", "io"]
    assert cgroup_controllers.enabling_properties(controllers, {"CPUWeight": None, "TasksMax": 5}, "0-7") == {
        "CPUWeight": "100",
        "AllowedCPUs": "0-7",
        "MemoryAccounting": "yes",
        "TasksAccounting": "yes",
        "IOAccounting": "yes",
        "TasksMax": 5,
    }
    assert cgroup_controllers.enabling_properties(["cpuset"], {"AllowedMemoryNodes": "0"}, "0-7") == {
        "AllowedMemoryNodes": "0"
    }
    assert cgroup_controllers.enabling_properties(["cpu"], {"CPUWeight": 7}, "") == {"CPUWeight": 7}
