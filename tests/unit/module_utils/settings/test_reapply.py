# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record applied again: what is awaited, what is given up, and how the installed engine is asked for it."""

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
    """kubelet, which comes up while somebody waits."""

    def __init__(self, tree: Tree, cgroup: str) -> None:
        super().__init__()
        self._tree, self._cgroup = tree, cgroup

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.now >= 1030:
            self._tree.make(self._cgroup)


def test_it_waits_for_a_cgroup_that_kubelet_has_yet_to_make(v2: Tree, lines: list[str]) -> None:
    v2.run(pod={"uid": UIDS["besteffort"]}, settings={"pids_max": 10, "cpu_quota": 1})
    shutil.rmtree(str(v2.top / POD))
    clock = MakesCgroups(v2, POD)
    assert reapply.reapply(v2.node(), clock, lines.append) == 0
    assert v2.read(POD, "pids.max") == "10"
    assert clock.now < 1040
    anew = "set again (the cgroup was re-created, or another program wrote the file)"
    assert sorted(lines) == [
        f"{POD} cpu_quota: drifted from 1 to max, {anew}",
        f"{POD} pids_max: drifted from 10 to max, {anew}",
    ]


def test_a_pod_that_does_not_come_back_is_forgotten_once_others_are_there(v2: Tree, lines: list[str]) -> None:
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
    """A pod of another class, and so on another level, shows that kubelet is at work."""
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


def test_a_cgroup_that_is_not_a_pods_is_kept(v2: Tree, lines: list[str]) -> None:
    """However much its name looks like one."""
    own = "own.slice/own-podfeed.slice"
    v2.make(own)
    v2.make("own.slice/own-poda.slice")
    v2.run(slice="own-podfeed.slice", settings={"pids_max": 10})
    shutil.rmtree(str(v2.top / own))
    for _run in range(2):
        assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == [f"{own}: the cgroup does not exist"] * 2


def test_a_pod_is_kept_while_no_pod_is_there_at_all(v2: Tree, lines: list[str]) -> None:
    v2.run(pod={"uid": UIDS["besteffort"]}, settings={"pids_max": 10})
    shutil.rmtree(str(v2.top / "kubepods.slice"))
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert lines == [f"{POD}: the cgroup does not exist"]
    v2.make(POD)
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 0
    assert v2.read(POD, "pids.max") == "10"


def test_one_cgroup_that_fails_does_not_keep_the_others(v2: Tree, lines: list[str]) -> None:
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


def test_a_knob_that_the_kernel_lost_is_told(v2: Tree, lines: list[str]) -> None:
    v2.run(slice="system.slice", settings={"pids_max": 5, "cpu_burst": 1000})
    v2.file("system.slice", "cpu.max.burst").unlink()
    v2.file("system.slice", "pids.max").write_text("max\n")
    assert reapply.reapply(v2.node(), FakeClock(), lines.append) == 1
    assert lines[0].startswith("system.slice cpu_burst: this kernel has no cpu.max.burst in /cgroups/system.slice (")
    assert v2.read("system.slice", "pids.max") == "5"


def test_the_installed_engine_answers_qos(memory: Path) -> None:
    """From its folder alone, as the unit starts it; this machine has no record, and nothing is written."""
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
