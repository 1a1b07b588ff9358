# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and hierarchies, compared with those of kubelet, containerd, systemd and the kernel on real nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import Hierarchies, hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import (
    Driver,
    KubeletTree,
    QosClass,
    container_cgroup,
    unit_of,
)
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host

SNAPSHOTS = Path(__file__).parent.parent.parent / "fixtures" / "snapshots"
UIDS = {
    QosClass.GUARANTEED: "32448b79bf3d93d9e37de5f9dd040171",
    QosClass.BURSTABLE: "f33d59e3a36a30b4bf44c7446627dd2e",
    QosClass.BESTEFFORT: "f79da2e8b5aaca46b8ba23dbc07e21bd",
}
"""UIDs of the three static pods on each node."""

V2 = {name: "/sys/fs/cgroup" for name in ("cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc")}
V1 = {
    **{name: f"/sys/fs/cgroup/{name}" for name in ("misc", "blkio", "devices", "freezer", "cpuset", "hugetlb")},
    **{name: f"/sys/fs/cgroup/{name}" for name in ("memory", "pids", "rdma", "perf_event", "systemd")},
    **dict.fromkeys(("cpu", "cpuacct"), "/sys/fs/cgroup/cpu,cpuacct"),
    **dict.fromkeys(("net_cls", "net_prio"), "/sys/fs/cgroup/net_cls,net_prio"),
}
NODES = {
    "bookworm-v1-aligned": (Driver.SYSTEMD, "v1", V1),
    "bookworm-v1-drivers-differ": (Driver.CGROUPFS, "v1", V1),
    "trixie-v2-aligned": (Driver.SYSTEMD, "v2", V2),
    "trixie-v2-cgroupfs-aligned": (Driver.CGROUPFS, "v2", V2),
    "trixie-v2-drivers-differ": (Driver.SYSTEMD, "v2", V2),
    "trixie-v2-static": (Driver.SYSTEMD, "v2", V2),
}
"""By node: kubelet's driver, the cgroup version and the mount points."""


def captured(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((SNAPSHOTS / f"{name}.json").read_text(encoding="utf-8"))
    return result


def test_every_captured_node_is_tested() -> None:
    assert sorted(path.stem for path in SNAPSHOTS.glob("*.json")) == sorted(NODES)


def node(snapshot: dict[str, Any], directory: Path) -> Host:
    files = {"/proc/self/mountinfo": "".join(line + "\n" for line in snapshot["cgroups"]["mountinfo"])}
    files.update(snapshot["cgroups"]["files"])
    for path, text in files.items():
        place = directory / path[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Host(str(directory))


def mounted(name: str, directory: Path) -> Hierarchies:
    return hierarchies(node(captured(name), directory))


@pytest.mark.parametrize("name", NODES)
def test_hierarchies_of_a_real_node_are_read_from_its_mount_table(tmp_path: Path, name: str) -> None:
    result = mounted(name, tmp_path)
    assert (result.mode, dict(result.points)) == NODES[name][1:]


def containers(snapshot: dict[str, Any]) -> Iterator[tuple[QosClass, str]]:
    """The class and the id of each container and sandbox of the runtime; pods are named after their class."""
    cri = snapshot["runtime"]["cri"]
    sandboxes = {item["id"]: QosClass(item["name"].partition("-")[0]) for item in cri["sandboxes"]}
    for identity, qos in sandboxes.items():
        yield qos, identity
    for item in cri["containers"]:
        yield sandboxes[item["sandbox"]], item["id"]


def places(snapshot: dict[str, Any]) -> dict[str, set[str]]:
    """Paths of all container processes, by the controllers of a hierarchy."""
    result: dict[str, set[str]] = {}
    for line in "\n".join(snapshot["containers"]).splitlines():
        _number, controllers, path = line.split(":", 2)
        result.setdefault(controllers, set()).add(path[1:])
    return result


@pytest.mark.parametrize("name", [name for name in NODES if not name.endswith("differ")])
def test_every_container_is_in_the_computed_cgroup(name: str) -> None:
    snapshot = captured(name)
    tree = KubeletTree(NODES[name][0])
    pods = {tree.pod(qos, uid) for qos, uid in UIDS.items()}
    expected = {
        container_cgroup(tree.pod(qos, UIDS[qos]), "containerd", identity) for qos, identity in containers(snapshot)
    }
    assert len(expected) == 6
    result = places(snapshot)
    # runc makes no cgroup in misc, and systemd moves processes up from a scope without rules for devices.
    assert result.pop("misc", {""}) == {""}
    assert result.pop("devices", set()) <= expected | pods
    assert result
    assert [controllers for controllers, paths in result.items() if paths != expected] == []
    for path in expected | pods:
        assert unit_of(path) == (path.rpartition("/")[2] if NODES[name][0] is Driver.SYSTEMD else None)


def test_pods_of_drivers_that_differ_are_named_after_their_slice() -> None:
    snapshot = captured("trixie-v2-drivers-differ")
    tree = KubeletTree(Driver.SYSTEMD)
    expected = {
        f"system.slice/{tree.pod(qos, UIDS[qos]).rpartition('/')[2]}:cri-containerd:{identity}"
        for qos, identity in containers(snapshot)
    }
    assert places(snapshot) == {"": expected}
    assert [unit_of(path) for path in expected] == [None] * 6


@pytest.mark.parametrize("name", NODES)
def test_every_tree_and_class_is_in_the_computed_cgroup(tmp_path: Path, name: str) -> None:
    cgroups = captured(name)["cgroups"]
    result = mounted(name, tmp_path)
    trees = [KubeletTree(driver) for driver in Driver]
    own = KubeletTree(NODES[name][0])
    points = set(result.points.values())
    assert set(cgroups["trees"]) <= {f"{point}/{tree.pods()}" for point in points for tree in trees}
    assert result.directory("cpu", own.pods()) in cgroups["trees"]
    levels = {f"{point}/{tree.qos(qos)}" for point in points for tree in trees for qos in QosClass}
    assert {path.rpartition("/")[0] for path in cgroups["files"]} <= levels | points
    if name in ("trixie-v2-static", "bookworm-v1-aligned", "bookworm-v1-drivers-differ"):
        # The collector of the other snapshots did not read the classes yet.
        classes = {result.directory("cpu", own.qos(qos)) for qos in (QosClass.BURSTABLE, QosClass.BESTEFFORT)}
        assert classes <= {path.rpartition("/")[0] for path in cgroups["files"]}
