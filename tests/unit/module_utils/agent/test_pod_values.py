# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod's cgroups are found by its ids, for each cgroup version and driver, and all values are reported."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.agent.pod_probe import (
    PodCgroups,
    compare_cgroup_values,
    wait_until_verified,
)
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver, QosClass
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import PODS, ROOT, UIDS, Tree
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock

CONTAINER = "c" * 64
SCOPES = {"systemd": f"cri-containerd-{CONTAINER}.scope", "cgroupfs": CONTAINER}
WEIGHT = {"v2": ("cpu.weight", "20"), "v1": ("cpu.shares", "204")}


def place(driver: str, root: str = "/") -> PodCgroups:
    return PodCgroups(UIDS["burstable"], CONTAINER, "containerd", Driver(driver), root, QosClass.BURSTABLE)


def expected_value(file: str, value: str, level: str = "container") -> dict[str, str]:
    return {"feature": "Resources", "level": level, "controller": "cpu", "file": file, "value": value}


@pytest.mark.parametrize("mode", ["v1", "v2"])
@pytest.mark.parametrize("driver", ["systemd", "cgroupfs"])
def test_values_of_pod_and_container_are_read(tmp_path: Path, mode: str, driver: str) -> None:
    tree = Tree(tmp_path, mode, driver)
    pod = PODS[driver]["burstable"]
    tree.make(f"{pod}/{SCOPES[driver]}")
    file, value = WEIGHT[mode]
    tree.file(pod, file).write_text(f"{value}\n")
    before = tree.snapshot()
    expected = [expected_value(file, value, "pod"), expected_value(file, value)]
    of_pod, of_container = compare_cgroup_values(tree.host, place(driver), expected, ROOT)
    assert of_pod["verified"]
    assert of_pod["path"].endswith(f"/{pod}/{file}")
    assert (of_container["actual"], of_container["verified"]) == ({"v1": "1024", "v2": "100"}[mode], False)
    assert of_container["path"].endswith(f"/{pod}/{SCOPES[driver]}/{file}")
    assert tree.snapshot() == before


class Writing(FakeClock):
    """A clock that writes the value after some seconds, as the agent does."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__()
        self._path, self._at = path, self.now + seconds

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.now >= self._at:
            self._path.write_text("20\n")


@pytest.mark.parametrize(("seconds", "verified"), [(12, True), (40, False)])
def test_values_are_awaited_until_the_timeout(tmp_path: Path, seconds: int, verified: bool) -> None:
    tree = Tree(tmp_path, "v2", "systemd")
    clock = Writing(tree.file(PODS["systemd"]["burstable"], "cpu.weight"), seconds)
    started = clock.now
    expected = [expected_value("cpu.weight", "20", "pod")]
    compare = partial(compare_cgroup_values, tree.host, place("systemd"), expected, ROOT)
    (value,) = wait_until_verified(compare, 30, clock)
    assert value["verified"] is verified
    assert clock.now - started == (12 if verified else 30)


def test_whitespace_of_the_kernel_does_not_count(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "systemd")
    tree.file(PODS["systemd"]["burstable"], "cpu.max").write_text("20000 100000\n")
    (value,) = compare_cgroup_values(
        tree.host, place("systemd"), [expected_value("cpu.max", "20000 100000", "pod")], ROOT
    )
    assert value["verified"]


def test_missing_cgroups_and_files_are_reported(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "systemd")
    expected = [expected_value("cpu.weight", "20"), expected_value("cpu.qos_level", "-1", "pod")]
    container, level = compare_cgroup_values(tree.host, place("systemd"), expected, ROOT)
    assert (container["reason"], container["verified"]) == ("the cgroup does not exist", False)
    assert (level["reason"], level["verified"]) == ("cannot be read: No such file or directory", False)


def test_a_link_in_the_tree_is_not_followed(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "cgroupfs")
    pod = tree.top / PODS["cgroupfs"]["burstable"]
    (pod / CONTAINER).symlink_to(tree.top)
    (value,) = compare_cgroup_values(tree.host, place("cgroupfs"), [expected_value("cpu.weight", "100")], ROOT)
    assert value["reason"] == "it is a symbolic link instead of a cgroup, and is not followed"


def test_a_missing_controller_is_an_error(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "v2", "systemd")
    with pytest.raises(ColocationError, match="this node has no controller net_cls"):
        compare_cgroup_values(
            tree.host, place("systemd"), [{**expected_value("x", "1"), "controller": "net_cls"}], ROOT
        )
