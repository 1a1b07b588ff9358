# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of cgroup_qos work on a tree of files; its page quotes the log as it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import ROOT as REAL_ROOT
from ansible_collections.volcano.colocation.plugins.modules.cgroup_qos import ARGUMENTS, EXAMPLES
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import OPTIONS, PODS, UIDS, Tree

MODULE = "volcano.colocation.cgroup_qos"
# The last task restores what the first has set.
TASKS: list[dict[str, Any]] = yaml.safe_load(EXAMPLES)
WRITTEN = {
    "cpu_quota": "kubepods.slice/kubepods-besteffort.slice/cpu.max: 200000 100000",
    "memory_high": "kubepods.slice/kubepods-besteffort.slice/memory.high: 3435970560",
    "cpu_idle": f"{PODS['systemd']['besteffort']}/cpu.idle: 1",
    "cpu_burst": f"{PODS['systemd']['burstable']}/cpu.max.burst: 200000",
    "cpu_weight": "system.slice/cpu.weight: 400",
}


def test_the_options_of_the_tests_are_the_module_s() -> None:
    spec: Any = ARGUMENTS
    defaults = {name: option.get("default") for name, option in spec.items()}
    assert defaults == {**OPTIONS, "cgroup_root": REAL_ROOT, "kubelet_version": None}


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UIDS, "checkout-0", UIDS["burstable"])
    tree = Tree(tmp_path, "v2", "systemd")
    before = tree.texts()
    for task in TASKS[:-1]:
        assert tree.run(**task[MODULE])["changed"], task["name"]
    for line in WRITTEN.values():
        path, _colon, text = line.partition(": ")
        assert tree.read(*path.rsplit("/", 1)) == text
    assert tree.run(**TASKS[-1][MODULE])["changed"]
    changed = {path for path, text in tree.texts().items() if before.get(path) != text and "/system.slice/" not in path}
    files = {"besteffort": "cpu.idle", "burstable": "cpu.max.burst"}
    pods = {f"cgroups/{PODS['systemd'][name]}/{file}" for name, file in files.items()}
    assert changed == pods | {"var/lib/volcano-colocation/qos.json"}
