# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount tables of real systems: mode, controllers, splits, read-only mounts and nesting."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import parse_mount, visible_mounts
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_tree import interpret_cgroups
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupFacts

ROOT = "/sys/fs/cgroup"
OPTIONS = "rw,nosuid,nodev,noexec,relatime"


def v1(number: int, directory: str, options: str, root: str = "/", mount: str = OPTIONS) -> str:
    return f"{number} 25 0:{number} {root} {ROOT}/{directory} {mount} shared:{number} - cgroup cgroup rw,{options}"


TMPFS = f"25 18 0:22 / {ROOT} ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755"
V2 = f"26 23 0:23 / {ROOT} {OPTIONS} shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot"
UNIFIED = f"26 25 0:23 / {ROOT}/unified {OPTIONS} shared:10 - cgroup2 cgroup2 rw,nsdelegate"
SINGLE = ("cpuset", "memory", "blkio", "pids", "devices", "freezer", "hugetlb", "perf_event")
DEBIAN_12_V1 = [
    TMPFS,
    v1(27, "systemd", "xattr,name=systemd"),
    v1(30, "cpu,cpuacct", "cpu,cpuacct"),
    v1(31, "net_cls,net_prio", "net_cls,net_prio"),
    *(v1(32 + number, name, name) for number, name in enumerate(SINGLE)),
]
RHEL_7 = [
    TMPFS.replace("mode=755", "seclabel,mode=755"),
    v1(27, "systemd", "seclabel,xattr,release_agent=/usr/lib/systemd/systemd-cgroups-agent,name=systemd"),
    v1(30, "cpu,cpuacct", "seclabel,cpuacct,cpu"),
    *(v1(32 + number, name, f"seclabel,{name}") for number, name in enumerate(SINGLE)),
]
OPENEULER_22_03 = [
    TMPFS,
    v1(27, "systemd", "xattr,release_agent=/usr/lib/systemd/systemd-cgroups-agent,name=systemd"),
    v1(30, "cpu,cpuacct", "cpu,cpuacct"),
    *(v1(32 + number, name, name) for number, name in enumerate((*SINGLE, "files", "rdma", "misc"))),
]
DOCKER_V1 = [
    f"640 639 0:60 / {ROOT} rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755",
    *(
        v1(641 + number, name, name, "/docker/4f3e", "ro,nosuid,nodev,noexec,relatime")
        for number, name in enumerate(("cpu,cpuacct", "memory", "cpuset", "pids"))
    ),
]
RHEL_6 = [f"25 18 0:22 / /cgroup/{name} rw - cgroup cgroup rw,{name}" for name in SINGLE]
MOUNTS_OF_TYPES = {"tmpfs": "1021994", "cgroup": "27e0eb", "cgroup2": "63677270"}


def facts(lines: list[str], **more: Any) -> CgroupFacts:
    """Facts of a mount table; the statfs types match it by default."""
    mounts = visible_mounts(lines)
    types = {point: MOUNTS_OF_TYPES[mount.filesystem] for point, mount in mounts.items()}
    return interpret_cgroups({"mountinfo": lines, "filesystem_types": types, "files": {}, "trees": [], **more})


TABLES: dict[str, tuple[list[str], str, dict[str, str]]] = {
    "Debian 12, v1": (DEBIAN_12_V1, "v1", {"cpu": f"{ROOT}/cpu,cpuacct", "memory": f"{ROOT}/memory"}),
    "RHEL 7, co-mounts with seclabel": (RHEL_7, "v1", {"cpuacct": f"{ROOT}/cpu,cpuacct", "pids": f"{ROOT}/pids"}),
    "openEuler 22.03, v1": (OPENEULER_22_03, "v1", {"cpu": f"{ROOT}/cpu,cpuacct", "files": f"{ROOT}/files"}),
    "Debian 12, hybrid": ([*DEBIAN_12_V1, UNIFIED], "hybrid", {"cpuset": f"{ROOT}/cpuset"}),
    "systemd 232, cgroup2 instead of name=systemd": (
        [*DEBIAN_12_V1[:1], UNIFIED.replace("unified", "systemd"), *DEBIAN_12_V1[2:]],
        "hybrid",
        {"cpu": f"{ROOT}/cpu,cpuacct"},
    ),
    "Debian 13, v2": ([V2], "v2", {}),
    "v2 mounted over v1": ([*DEBIAN_12_V1, V2], "v2", {}),
    "v1 mounted over v2": ([V2, *DEBIAN_12_V1], "v1", {"memory": f"{ROOT}/memory"}),
    "a container with v1 read-only": (DOCKER_V1, "v1", {"memory": f"{ROOT}/memory"}),
    "all controllers on one v1 mount": (
        [f"25 18 0:22 / {ROOT} rw - cgroup cgroup rw,cpu,cpuacct,memory,cpuset,pids"],
        "v1",
        {"cpu": ROOT},
    ),
    "RHEL 6, elsewhere": (
        [f"25 18 0:22 / /cgroup/{name} rw - cgroup cgroup rw,{name}" for name in SINGLE],
        "unknown",
        {},
    ),
    "nothing": ([], "unknown", {}),
    "garbage": (["", "x", "1 2 3 - cgroup2", "- - -", f"26 23 0:23 / {ROOT}"], "unknown", {}),
}


@pytest.mark.parametrize("table", TABLES)
def test_mode_and_mountpoints_are_read_from_a_mount_table(table: str) -> None:
    lines, mode, mountpoints = TABLES[table]
    cgroups = facts(lines)
    assert cgroups.mode.value == mode
    assert {name: cgroups.mountpoints.get(name) for name in mountpoints} == mountpoints
    assert not {"seclabel", "xattr", "rw"} & set(cgroups.controllers)


def test_the_reason_names_where_cgroups_are_mounted_instead() -> None:
    assert (
        facts(TABLES["RHEL 6, elsewhere"][0]).reason
        == f"nothing is mounted at {ROOT}; cgroups are mounted at /cgroup/blkio"
    )


def test_an_unread_mount_table_is_not_an_empty_one() -> None:
    assert facts([], mountinfo_read=False).reason == "the mount table could not be read"


def test_the_mode_is_unknown_if_statfs_contradicts_the_mount_table_of_a_hybrid() -> None:
    cgroups = facts([*DEBIAN_12_V1, UNIFIED], filesystem_types={f"{ROOT}/unified": "1021994"})
    assert (cgroups.mode.value, cgroups.reason[-23:]) == ("unknown", f"at {ROOT}/unified"[-23:])


SPLITS = [
    ([V2, f"40 26 0:40 / {ROOT}/net_cls rw - cgroup cgroup rw,net_cls"], "cpu memory pids io cpuset", {}),
    (
        [V2, "40 26 0:40 / /run/v1/cpuset rw - cgroup cgroup rw,cpuset"],
        "cpu memory pids io",
        {"cpuset": "/run/v1/cpuset"},
    ),
    (
        [line for line in [*DEBIAN_12_V1, UNIFIED] if not line.endswith((",memory", ",cpuset"))],
        "cpuset memory misc",
        {"cpuset": f"{ROOT}/unified", "memory": f"{ROOT}/unified"},
    ),
    ([*DEBIAN_12_V1, UNIFIED], "misc", {}),
    ([], "", {}),
]


@pytest.mark.parametrize(("lines", "offered", "split"), SPLITS)
def test_controllers_that_are_in_the_other_hierarchy(lines: list[str], offered: str, split: dict[str, str]) -> None:
    files = {f"{point}/cgroup.controllers": offered for point in (ROOT, f"{ROOT}/unified")}
    assert facts(lines, files=files).split == split


def test_controllers_that_the_kernel_does_not_offer() -> None:
    lines = [line for line in DEBIAN_12_V1 if not line.endswith((",memory", ",cpuset"))]
    assert facts(lines).missing == ("cpuset", "memory")
    assert facts([V2], files={f"{ROOT}/cgroup.controllers": "cpu memory"}).missing == ("cpuset", "io", "pids")
    assert facts([V2]).missing == ()
    assert facts([]).missing == ()


def test_hierarchies_have_their_mount_options() -> None:
    hierarchies = {hierarchy.mountpoint: hierarchy for hierarchy in facts(DOCKER_V1).hierarchies}
    assert (hierarchies[f"{ROOT}/memory"].read_only, hierarchies[f"{ROOT}/memory"].root) == (True, "/docker/4f3e")
    assert [hierarchy.read_only for hierarchy in facts(DEBIAN_12_V1).hierarchies] == [False] * 11


NESTED = {
    "docker with the host's cgroup namespace": (DOCKER_V1, {}, "/docker/4f3e of its hierarchy is mounted"),
    "kind: v2 in a separate namespace": ([V2], {ROOT: {"files": ["cgroup.procs", "cgroup.type"]}}, "has cgroup.type"),
    "v1 in a separate namespace": (DEBIAN_12_V1, {f"{ROOT}/memory": {"files": ["tasks"]}}, "has no release_agent"),
    "a node": ([V2], {ROOT: {"files": ["cgroup.procs", "io.cost.qos"]}}, None),
    "a node with v1": (
        [*DEBIAN_12_V1, UNIFIED],
        {
            f"{ROOT}/memory": {"files": ["release_agent", "tasks"]},
            f"{ROOT}/systemd": {"files": ["tasks"]},
            f"{ROOT}/unified": {"files": ["cgroup.procs"]},
        },
        None,
    ),
}


@pytest.mark.parametrize("case", NESTED)
def test_nested_cgroups_are_recognized_with_a_reason(case: str) -> None:
    lines, tops, reason = NESTED[case]
    nested = facts(lines, tops=tops).nested
    assert nested is None if reason is None else nested is not None and reason in nested


def test_spaces_in_a_mountpoint_are_written_as_octal() -> None:
    mount = parse_mount("1 2 0:3 /a\\040b /mnt/c\\040d\\134 rw - cgroup2 none rw")
    assert mount is not None
    assert (mount.root, mount.mountpoint) == ("/a b", "/mnt/c d\\")


def test_levels_and_their_missing_controllers() -> None:
    tree = f"{ROOT}/kubepods.slice"
    files = {
        f"{ROOT}/cgroup.controllers": "cpuset cpu io memory pids",
        f"{ROOT}/cgroup.subtree_control": "memory pids",
        f"{tree}/cgroup.controllers": "memory pids",
        f"{tree}/cgroup.subtree_control": "memory pids",
        f"{tree}/cgroup.type": "domain",
        f"{tree}/kubepods-burstable.slice/cgroup.subtree_control": "",
        f"{tree}/kubepods-besteffort.slice/cgroup.subtree_control": "memory",
    }
    levels = {level.path.removeprefix(ROOT): level for level in facts([V2], files=files).levels}
    assert {path: level.missing for path, level in levels.items()} == {
        "": ("cpu", "cpuset", "io"),
        "/kubepods.slice": ("cpu", "cpuset", "io"),
        "/kubepods.slice/kubepods-burstable.slice": (),
        "/kubepods.slice/kubepods-besteffort.slice": ("cpu", "cpuset", "io", "pids"),
    }
    assert (levels["/kubepods.slice"].kind, levels[""].kind) == ("domain", None)
    assert facts(DEBIAN_12_V1, files=files).levels == ()
