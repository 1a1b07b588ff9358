# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slices are found by the first line of their files; what is not ours stays, and so does what is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.restore import managed_slices
from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_files, unit_result
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import Systemd

UNITS = "etc/systemd/system"


@pytest.fixture(name="systemd")
def _systemd(tmp_path: Path) -> Systemd:
    return Systemd(tmp_path / "node")


def make(systemd: Systemd, name: str, **properties: Any) -> None:
    given = {**managed_slices.ABSENT, "name": name, "state": "present", "before": ["kubelet.service"]}
    unit_result.apply_prepared(systemd.host, unit_result.prepare(systemd.host, {**given, "properties": properties}))


def tree(systemd: Systemd) -> list[str]:
    """Everything that is there but the directory that systemd makes in /run, and the node's lock."""
    found = (str(each.relative_to(systemd.root)) for each in systemd.root.rglob("*"))
    return sorted(path for path in found if not path.startswith(("run/systemd/system.control", "var")))


def names(found: managed_slices.ManagedSlices) -> list[str]:
    return [each.name for each in found.slices]


def test_a_node_without_slices_of_ours_is_not_asked_further(systemd: Systemd) -> None:
    systemd.write(f"{UNITS}/theirs.slice", "[Slice]\nCPUWeight=5\n")
    systemd.write(f"{UNITS}/theirs.slice.d/50-volcano-colocation.conf", "[Slice]\n# not by us\n")
    found = managed_slices.find_slices(systemd.host)
    assert (found.slices, found.strays) == ((), ())
    assert systemd.host.commands == []


def test_slices_in_slices_and_drop_ins_are_gone_without_a_trace(systemd: Systemd) -> None:
    before = tree(systemd)
    make(systemd, "node.slice", TasksMax=100)
    make(systemd, "node-agents.slice", CPUWeight=500)
    make(systemd, "kubepods-besteffort.slice", MemoryHigh=1 << 30)

    found = managed_slices.find_slices(systemd.host)
    assert names(found) == ["kubepods-besteffort.slice", "node-agents.slice", "node.slice"]
    assert [each.error for each in found.slices] == [None, None, None]
    managed_slices.restore_slices(systemd.host, found)

    assert tree(systemd) == before
    assert not any(each.active for name, each in systemd.slices.items() if name.startswith("node"))
    assert managed_slices.find_slices(systemd.host) == managed_slices.ManagedSlices((), ())


def test_what_goes_is_told(systemd: Systemd) -> None:
    make(systemd, "node-agents.slice", CPUWeight=500)
    told = managed_slices.restore_result(systemd.host, managed_slices.find_slices(systemd.host))
    (each,) = told["slices"]
    assert (each["name"], each["error"], told["strays"]) == ("node-agents.slice", None, [])
    assert [entry["before_header"] for entry in each["diff"]] == [f"/{UNITS}/node-agents.slice", "node-agents.slice"]
    assert "CPUWeight=500" in each["diff"][0]["before"]


def test_a_slice_with_a_process_is_named_and_stays(systemd: Systemd) -> None:
    make(systemd, "node.slice", TasksMax=100)
    make(systemd, "node-agents.slice", CPUWeight=500)
    (systemd.root / "sys/fs/cgroup/node.slice/node-agents.slice/cgroup.procs").write_text("4711\n")
    found = managed_slices.find_slices(systemd.host)
    inner, outer = found.slices
    assert "node-agents.slice cannot be removed: process 4711 is in it" in str(inner.error)
    assert "node.slice cannot be removed: process 4711 is in it" in str(outer.error)
    before = tree(systemd)
    with pytest.raises(ColocationError, match="4711"):
        managed_slices.restore_slices(systemd.host, found)
    assert tree(systemd) == before


def test_somebody_elses_slice_in_ours_keeps_it(systemd: Systemd) -> None:
    make(systemd, "node.slice", TasksMax=100)
    (systemd.root / "sys/fs/cgroup/node.slice/node-theirs.slice").mkdir()
    (each,) = managed_slices.find_slices(systemd.host).slices
    assert "node-theirs.slice is in it and would be stopped" in str(each.error)


def test_files_of_slices_that_are_no_more_go_as_well(systemd: Systemd) -> None:
    # A drop-in for a slice that was transient then, and a companion whose slice somebody removed.
    paths = [
        f"{UNITS}/gone.slice.d/50-volcano-colocation.conf",
        f"{UNITS}/volcano-colocation-cgroups-lost.service",
    ]
    for path in paths:
        systemd.write(path, f"{unit_files.MARK}\n[Slice]\nCPUWeight=5\n")
    found = managed_slices.find_slices(systemd.host)
    told = managed_slices.restore_result(systemd.host, found)
    managed_slices.restore_slices(systemd.host, found)
    assert [path for path in tree(systemd) if "slice" in path or "lost" in path] == []
    assert [each["path"] for each in told["strays"]] == ["/" + paths[0]]
    assert [each["name"] for each in told["slices"]] == ["gone.slice", "lost.slice"]
    assert managed_slices.managed_files(systemd.host) == []
