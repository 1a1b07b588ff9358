# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount points of controllers, from the mount table of a node and from a tree of files in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import Hierarchies, hierarchies
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host

ROOT = "/sys/fs/cgroup"
TMPFS = f"25 18 0:22 / {ROOT} ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755"
UNIFIED = f"26 25 0:23 / {ROOT}/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate"
V2 = f"31 23 0:26 / {ROOT} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot"


def v1(directory: str, options: str) -> str:
    return f"30 25 0:30 / {ROOT}/{directory} rw,nosuid shared:11 - cgroup cgroup rw,{options}"


V1 = [
    TMPFS,
    v1("systemd", "xattr,release_agent=/lib/systemd/systemd-cgroups-agent,name=systemd"),
    v1("cpu,cpuacct", "cpu,cpuacct"),
    v1("net_cls,net_prio", "net_cls,net_prio"),
    *(v1(name, name) for name in ("cpuset", "memory", "blkio", "pids", "hugetlb")),
]
V1_POINTS = {
    "blkio": f"{ROOT}/blkio",
    "cpu": f"{ROOT}/cpu,cpuacct",
    "cpuacct": f"{ROOT}/cpu,cpuacct",
    "cpuset": f"{ROOT}/cpuset",
    "hugetlb": f"{ROOT}/hugetlb",
    "memory": f"{ROOT}/memory",
    "net_cls": f"{ROOT}/net_cls,net_prio",
    "net_prio": f"{ROOT}/net_cls,net_prio",
    "pids": f"{ROOT}/pids",
    "systemd": f"{ROOT}/systemd",
}


def node(directory: Path, mounts: list[str], **controllers: str) -> Host:
    """A node with these mounts; ``controllers`` has the controllers of cgroup2 at ``root`` or ``unified``."""
    (directory / "proc/self").mkdir(parents=True)
    (directory / "proc/self/mountinfo").write_text("".join(line + "\n" for line in mounts))
    for name, text in controllers.items():
        point = directory / ROOT[1:] / ("" if name == "root" else name)
        point.mkdir(parents=True, exist_ok=True)
        (point / "cgroup.controllers").write_text(text + "\n")
    return Host(str(directory))


def test_controllers_of_v1_with_a_common_mount_point(tmp_path: Path) -> None:
    result = hierarchies(node(tmp_path, V1))
    assert (result.mode, dict(result.points)) == ("v1", V1_POINTS)
    assert result.directory("cpuacct", "kubepods/burstable") == f"{ROOT}/cpu,cpuacct/kubepods/burstable"
    assert result.directory("systemd", "") == f"{ROOT}/systemd"


def test_the_shortest_mount_point_is_used(tmp_path: Path) -> None:
    mounts = [*V1, v1("cpu,cpuacct/in/a/container", "cpu,cpuacct"), "40 1 0:41 / /cg rw - cgroup cgroup rw,memory"]
    result = hierarchies(node(tmp_path, mounts))
    assert (result.points["cpu"], result.points["memory"]) == (f"{ROOT}/cpu,cpuacct", "/cg")


def test_controllers_of_v2_at_the_root(tmp_path: Path) -> None:
    result = hierarchies(node(tmp_path, [V2], root="cpuset cpu io memory hugetlb pids rdma misc"), ROOT + "/")
    assert result.mode == "v2"
    assert set(result.points) == {"cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"}
    assert set(result.points.values()) == {ROOT}
    assert result.directory("io", "kubepods.slice") == f"{ROOT}/kubepods.slice"


def test_hybrid_is_v1(tmp_path: Path) -> None:
    result = hierarchies(node(tmp_path, [*V1, UNIFIED], unified=""))
    assert (result.mode, dict(result.points)) == ("v1", V1_POINTS)


def test_hybrid_with_systemd_in_v2_has_no_hierarchy_of_systemd(tmp_path: Path) -> None:
    # systemd 232 mounted cgroup2 instead of name=systemd.
    mounts = [TMPFS, UNIFIED.replace("/unified", "/systemd"), *V1[2:]]
    result = hierarchies(node(tmp_path, mounts, systemd=""))
    assert result.mode == "v1"
    with pytest.raises(ColocationError, match="no controller systemd"):
        result.directory("systemd", "kubepods")


def test_v2_mounted_over_v1_is_v2(tmp_path: Path) -> None:
    result = hierarchies(node(tmp_path, [*V1, V2], root="cpu memory"))
    assert (result.mode, sorted(result.points)) == ("v2", ["cpu", "memory"])


@pytest.mark.parametrize(
    ("mounts", "offered", "message"),
    [
        ([], {}, "nothing is mounted at /sys/fs/cgroup"),
        (["30 25 0:30 / /cgroup/cpu rw - cgroup cgroup rw,cpu"], {}, "cgroups are mounted at /cgroup/cpu"),
        ([TMPFS], {}, "no controller is mounted below it"),
        ([V2], {}, r"/sys/fs/cgroup/cgroup\.controllers: cannot be read: No such file"),
        (
            [V2, "40 1 0:41 / /run/v1 rw - cgroup cgroup rw,cpuset"],
            {"root": "cpu memory"},
            "cgroup v2 is in effect at /sys/fs/cgroup, but these controllers have the other version: cpuset at /run/v1",
        ),
        (
            [V2, "40 1 0:41 / /run/v1 rw - cgroup cgroup rw,blkio"],
            {"root": "cpu memory"},
            "these controllers have the other version: blkio at /run/v1",
        ),
        (
            [line for line in [*V1, UNIFIED] if not line.endswith(",memory")],
            {"unified": "memory misc"},
            "cgroup v1 is in effect at /sys/fs/cgroup, .* the other version: memory at /sys/fs/cgroup/unified",
        ),
    ],
)
def test_an_unknown_mode_is_an_error(tmp_path: Path, mounts: list[str], offered: dict[str, str], message: str) -> None:
    with pytest.raises(ColocationError, match=message):
        hierarchies(node(tmp_path, mounts, **offered))


def test_an_unused_controller_may_have_the_other_version(tmp_path: Path) -> None:
    result = hierarchies(node(tmp_path / "a", [*V1, UNIFIED], unified="misc rdma"))
    assert (result.mode, "misc" in result.points) == ("v1", False)
    mounts = [V2, "40 1 0:41 / /run/net_cls rw - cgroup cgroup rw,net_cls"]
    assert dict(hierarchies(node(tmp_path / "b", mounts, root="cpu")).points) == {"cpu": ROOT}


def test_a_node_without_a_mount_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ColocationError, match="/proc/self/mountinfo: the mount table cannot be read"):
        hierarchies(Host(str(tmp_path)))


@pytest.mark.skipif(" - cgroup" not in Path("/proc/self/mountinfo").read_text(), reason="no cgroups are mounted here")
def test_every_directory_on_the_running_machine_exists() -> None:
    """Every directory in the result must exist, whatever the machine has."""
    result = hierarchies(Host("/"))
    assert result.points
    assert all(os.path.isdir(result.directory(controller, "")) for controller in result.points)


def test_a_tree_of_files_with_controllers_at_its_root_is_v2(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/cgroup.controllers").write_text("cpu memory\n")
    for root in ("/tree", "/tree/"):
        result = hierarchies(Host(str(tmp_path)), root)
        assert (result.mode, dict(result.points)) == ("v2", {"cpu": "/tree", "memory": "/tree"})


def v1_tree(tmp_path: Path, *directories: str) -> Path:
    for name in directories:
        (tmp_path / "tree" / name).mkdir(parents=True)
    return tmp_path / "tree"


def test_a_tree_of_files_with_a_directory_for_each_controller_is_v1(tmp_path: Path) -> None:
    tree = v1_tree(tmp_path, "cpu,cpuacct", "memory", "systemd", "unified", "kubepods")
    (tree / "cpu").symlink_to("cpu,cpuacct")
    (tree / "cpuset").write_text("not a directory")
    (tree / "unified/cgroup.controllers").write_text("\n")
    result = hierarchies(Host(str(tmp_path)), "/tree")
    assert result.mode == "v1"
    assert dict(result.points) == {
        "cpu": "/tree/cpu,cpuacct",
        "cpuacct": "/tree/cpu,cpuacct",
        "memory": "/tree/memory",
        "systemd": "/tree/systemd",
    }


def test_a_link_alone_names_a_controller(tmp_path: Path) -> None:
    (v1_tree(tmp_path, "both") / "cpu").symlink_to("both")
    assert dict(hierarchies(Host(str(tmp_path)), "/tree").points) == {"cpu": "/tree/both"}


def test_of_two_directories_with_a_controller_the_shortest_is_used(tmp_path: Path) -> None:
    v1_tree(tmp_path, "cpu,cpuacct", "cpu")
    assert hierarchies(Host(str(tmp_path)), "/tree").points["cpu"] == "/tree/cpu"


@pytest.mark.parametrize("target", ["../outside", "/outside", "{tmp}/outside", "memory/../../outside", "pids", "gone"])
def test_a_link_out_of_the_tree_is_not_a_controller(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").mkdir()
    tree = v1_tree(tmp_path, "memory")
    (tree / "cpu").symlink_to(target.format(tmp=tmp_path))
    (tree / "pids").symlink_to("cpu")
    assert dict(hierarchies(Host(str(tmp_path)), "/tree").points) == {"memory": "/tree/memory"}


def test_a_tree_of_files_with_both_versions_is_refused(tmp_path: Path) -> None:
    tree = v1_tree(tmp_path, "cpu", "unified")
    (tree / "unified/cgroup.controllers").write_text("memory\n")
    with pytest.raises(ColocationError, match=r"cgroup v1 is in effect at /tree, .*: memory at /tree/unified"):
        hierarchies(Host(str(tmp_path)), "/tree")


@pytest.mark.parametrize("directories", [(), ("kubepods",), ("systemd",)])
def test_a_directory_that_is_not_a_cgroup_tree(tmp_path: Path, directories: tuple[str, ...]) -> None:
    v1_tree(tmp_path, *directories)
    with pytest.raises(ColocationError, match="/tree: is not a cgroup tree"):
        hierarchies(Host(str(tmp_path)), "/tree")


def test_a_root_that_is_not_an_absolute_path(tmp_path: Path) -> None:
    with pytest.raises(ColocationError, match="'tree' is not an absolute path"):
        hierarchies(Host(str(tmp_path)), "tree")


KNOWN = Hierarchies("v1", {"cpu": "/cg/cpu", "memory": "/cg/memory"})


def test_a_missing_controller() -> None:
    with pytest.raises(ColocationError) as caught:
        KNOWN.directory("cpuset", "kubepods")
    assert caught.value.message == "this node has no controller cpuset (cgroup v1; available: cpu, memory)"


@given(st.text("ab/.\0-_", max_size=12))
def test_a_directory_stays_in_its_hierarchy(cgroup: str) -> None:
    try:
        directory = KNOWN.directory("cpu", cgroup)
    except ColocationError:
        assert {"", ".", ".."} & set(cgroup.split("/")) or "\0" in cgroup
    else:
        assert os.path.normpath(directory) == directory
        assert directory == "/cg/cpu" or directory.startswith("/cg/cpu/")
