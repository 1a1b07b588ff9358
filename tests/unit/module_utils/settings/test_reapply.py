# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record is applied again: which cgroups it waits for and gives up, and the command of the installed engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    QosClass,
)
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.settings import reapply
from ansible_collections.volcano.colocation.plugins.module_utils.state import installed_engine
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import CGROUPS, PODS, UIDS, Tree
from ansible_collections.volcano.colocation.tests.support.node.simulation import FakeClock

CLASS = CGROUPS["systemd"]["besteffort"]
POD = PODS["systemd"]["besteffort"]


@pytest.fixture(name="lines")
def _lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(reapply, "ROOT", "/cgroups")
    return []


class MakesCgroups(FakeClock):
    """kubelet, which creates the cgroup while the run waits."""

    def __init__(self, tree: Tree, cgroup: str) -> None:
        super().__init__()
        self._tree, self._cgroup = tree, cgroup

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.now >= 1030:
            self._tree.make(self._cgroup)


def test_it_waits_until_kubelet_creates_a_cgroup(v2: Tree, lines: list[str]) -> None:
    v2.run(pod={"uid": UIDS["besteffort"]}, settings={"pids_max": 10, "cpu_quota": 1})
    shutil.rmtree(str(v2.top / POD))
    clock = MakesCgroups(v2, POD)
    assert reapply.reapply(v2.node(), clock, lines.append) == 0
    assert v2.read(POD, "pids.max") == "10"
    assert clock.now < 1040
    suffix = "set again (the cgroup was re-created, or another program wrote the file)"
    assert sorted(lines) == [
        f"{POD} cpu_quota: drifted from 1 to max, {suffix}",
        f"{POD} pids_max: drifted from 10 to max, {suffix}",
    ]


def test_settings_of_a_missing_pod_are_deleted_once_other_pods_exist(v2: Tree, lines: list[str]) -> None:
    v2.run(pod={"uid": UIDS["besteffort"]}, settings={"pids_max": 10})
    v2.run(slice="system.slice", settings={"pids_max": 1000})
    shutil.rmtree(str(v2.top / POD))
    clock = FakeClock()
    assert reapply.reapply(v2.node(), clock, lines.append) == 0
    assert clock.now >= 1000 + reapply.CGROUP_TIMEOUT
    assert lines == [f"{POD}: the pod no longer exists, its settings are deleted from the record"]
    lines.clear()
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == []
    assert v2.read("system.slice", "pids.max") == "1000"


@pytest.mark.parametrize("inner", ["", "/cri-containerd-" + "ab" * 32 + ".scope"])
def test_other_pods_are_found_below_a_root(v2: Tree, lines: list[str], inner: str) -> None:
    """A pod of another class, which is on another level, shows that kubelet works."""
    tree = KubeletTree(Driver.SYSTEMD, "/a/b")
    pod = tree.pod(QosClass.GUARANTEED, UIDS["guaranteed"])
    v2.make(pod)
    v2.make(pod + inner)
    v2.run(path=pod + inner, kubelet_cgroup_root="/a/b", settings={"pids_max": 10})
    shutil.rmtree(str(v2.top / pod))
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    v2.make(tree.pod(QosClass.BURSTABLE, UIDS["burstable"]))
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == [
        f"{pod}{inner}: the cgroup does not exist",
        f"{pod}{inner}: the pod no longer exists, its settings are deleted from the record",
    ]


def test_settings_of_a_cgroup_that_is_not_a_pods_stay(v2: Tree, lines: list[str]) -> None:
    """Even if its name looks like the name of a pod."""
    cgroup = "own.slice/own-podfeed.slice"
    v2.make(cgroup)
    v2.make("own.slice/own-poda.slice")
    v2.run(slice="own-podfeed.slice", settings={"pids_max": 10})
    shutil.rmtree(str(v2.top / cgroup))
    for _run in range(2):
        assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == [f"{cgroup}: the cgroup does not exist"] * 2


def test_settings_of_a_pod_stay_while_no_pod_exists(v2: Tree, lines: list[str]) -> None:
    v2.run(pod={"uid": UIDS["besteffort"]}, settings={"pids_max": 10})
    shutil.rmtree(str(v2.top / "kubepods.slice"))
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == [f"{POD}: the cgroup does not exist"]
    v2.make(POD)
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert v2.read(POD, "pids.max") == "10"


def test_other_cgroups_are_applied_after_a_failure(v2: Tree, lines: list[str]) -> None:
    v2.run(slice="system.slice", settings={"cpu_quota": 1, "cpu_burst": 1000})
    v2.run(qos_class="besteffort", settings={"pids_max": 10})
    v2.file("system.slice", "cpu.max.burst").unlink()
    v2.file("system.slice", "cpu.max.burst").symlink_to("cpu.max")
    v2.file(CLASS, "pids.max").write_text("max\n")
    clock = FakeClock()
    assert reapply.reapply(v2.node(), clock, lines.append) == 1
    assert v2.read(CLASS, "pids.max") == "10"
    assert sorted(lines)[0].startswith("/cgroups/system.slice/cpu.max.burst: cannot be read: ELOOP")
    assert len(lines) == 2


def test_a_knob_that_the_kernel_no_longer_has_is_reported(v2: Tree, lines: list[str]) -> None:
    v2.run(slice="system.slice", settings={"pids_max": 5, "cpu_burst": 1000})
    v2.file("system.slice", "cpu.max.burst").unlink()
    v2.file("system.slice", "pids.max").write_text("max\n")
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 1
    assert lines[0].startswith("system.slice cpu_burst: this kernel has no cpu.max.burst in /cgroups/system.slice (")
    assert v2.read("system.slice", "pids.max") == "5"


def test_the_installed_engine_has_the_command_qos(memory: Path) -> None:
    """Only from its directory, as the unit starts it; this machine has no record, and nothing is written."""
    path = Host(str(memory)).path(installed_engine.install_engine(Host(str(memory))))
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from volcano_colocation.settings.reapply import main
print("volcano_colocation.transaction.runner" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-I", "-B", "-c", code, path], stdout=subprocess.PIPE, check=True, cwd="/")
    assert done.stdout == b"False\n"
    usage = subprocess.run([sys.executable, "-I", "-B", path], stderr=subprocess.PIPE, check=False, cwd="/")
    assert usage.stderr == b"usage: run ID | finish ID | undo ID | recover | recover-at-boot | qos\n"
