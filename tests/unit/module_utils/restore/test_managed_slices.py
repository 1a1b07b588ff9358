# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slices are recognized by the first line of their files; foreign and used slices stay."""

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
    parameters = {**managed_slices.ABSENT, "name": name, "state": "present", "before": ["kubelet.service"]}
    unit_result.apply_prepared(
        systemd.host, unit_result.prepare(systemd.host, {**parameters, "properties": properties})
    )


def tree(systemd: Systemd) -> list[str]:
    """All paths except the directory that systemd creates in /run, and the node's lock."""
    paths = (str(path.relative_to(systemd.root)) for path in systemd.root.rglob("*"))
    return sorted(path for path in paths if not path.startswith(("run/systemd/system.control", "var")))


def names(managed: managed_slices.ManagedSlices) -> list[str]:
    return [slice_.name for slice_ in managed.slices]


def test_a_node_without_managed_slices_runs_no_command(systemd: Systemd) -> None:
    systemd.write(f"{UNITS}/foreign.slice", "[Slice]\nCPUWeight=5\n")
    systemd.write(f"{UNITS}/foreign.slice.d/50-volcano-colocation.conf", "[Slice]\n# foreign\n")
    managed = managed_slices.find_slices(systemd.host)
    assert (managed.slices, managed.strays) == ((), ())
    assert systemd.host.commands == []


def test_nested_slices_and_drop_ins_are_removed_completely(systemd: Systemd) -> None:
    before = tree(systemd)
    make(systemd, "node.slice", TasksMax=100)
    make(systemd, "node-agents.slice", CPUWeight=500)
    make(systemd, "kubepods-besteffort.slice", MemoryHigh=1 << 30)

    managed = managed_slices.find_slices(systemd.host)
    assert names(managed) == ["kubepods-besteffort.slice", "node-agents.slice", "node.slice"]
    assert [slice_.error for slice_ in managed.slices] == [None, None, None]
    managed_slices.restore_slices(systemd.host, managed)

    assert tree(systemd) == before
    assert not any(slice_.active for name, slice_ in systemd.slices.items() if name.startswith("node"))
    assert managed_slices.find_slices(systemd.host) == managed_slices.ManagedSlices((), ())


def test_removed_slices_are_reported(systemd: Systemd) -> None:
    make(systemd, "node-agents.slice", CPUWeight=500)
    result = managed_slices.restore_result(systemd.host, managed_slices.find_slices(systemd.host))
    (slice_,) = result["slices"]
    assert (slice_["name"], slice_["error"], result["strays"]) == ("node-agents.slice", None, [])
    assert [entry["before_header"] for entry in slice_["diff"]] == [f"/{UNITS}/node-agents.slice", "node-agents.slice"]
    assert "CPUWeight=500" in slice_["diff"][0]["before"]


def test_a_slice_with_a_process_is_named_and_stays(systemd: Systemd) -> None:
    make(systemd, "node.slice", TasksMax=100)
    make(systemd, "node-agents.slice", CPUWeight=500)
    (systemd.root / "sys/fs/cgroup/node.slice/node-agents.slice/cgroup.procs").write_text("4711\n")
    managed = managed_slices.find_slices(systemd.host)
    inner, outer = managed.slices
    assert "node-agents.slice cannot be removed: process 4711 is in it" in str(inner.error)
    assert "node.slice cannot be removed: process 4711 is in it" in str(outer.error)
    before = tree(systemd)
    with pytest.raises(ColocationError, match="4711"):
        managed_slices.restore_slices(systemd.host, managed)
    assert tree(systemd) == before


def test_a_nested_foreign_slice_prevents_the_removal(systemd: Systemd) -> None:
    make(systemd, "node.slice", TasksMax=100)
    (systemd.root / "sys/fs/cgroup/node.slice/node-foreign.slice").mkdir()
    (slice_,) = managed_slices.find_slices(systemd.host).slices
    assert "node-foreign.slice is in it and would be stopped" in str(slice_.error)


def test_files_of_missing_slices_are_removed(systemd: Systemd) -> None:
    # A drop-in of a former transient slice, and a controller unit whose slice was deleted.
    paths = [
        f"{UNITS}/gone.slice.d/50-volcano-colocation.conf",
        f"{UNITS}/volcano-colocation-cgroups-lost.service",
    ]
    for path in paths:
        systemd.write(path, f"{unit_files.MARK}\n[Slice]\nCPUWeight=5\n")
    managed = managed_slices.find_slices(systemd.host)
    result = managed_slices.restore_result(systemd.host, managed)
    managed_slices.restore_slices(systemd.host, managed)
    assert [path for path in tree(systemd) if "slice" in path or "lost" in path] == []
    assert [slice_["path"] for slice_ in result["strays"]] == ["/" + paths[0]]
    assert [slice_["name"] for slice_ in result["slices"]] == ["gone.slice", "lost.slice"]
    assert managed_slices.managed_files(systemd.host) == []
