# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroup mode: v1, v2, hybrid, and unknown if the sources are not clear."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_tree import interpret_cgroups
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupMode

V2 = ["26 23 0:23 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot"]
TMPFS = ["24 22 0:21 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,size=4096k,nr_inodes=1024,mode=755"]
V1 = [
    "27 24 0:24 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
    "31 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
    "32 24 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
]
UNIFIED = ["25 24 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate"]


def facts(lines: list[str], magic: str | None = None, **files: str) -> Any:
    return interpret_cgroups(
        {
            "mountinfo": lines,
            "filesystem_types": {} if magic is None else {"/sys/fs/cgroup": magic},
            "files": {f"/sys/fs/cgroup/{name.replace('_', '.')}": text for name, text in files.items()},
            "trees": [],
        }
    )


@pytest.mark.parametrize(
    ("lines", "magic", "mode"),
    [
        (V2, "63677270", CgroupMode.V2),
        (V2, None, CgroupMode.V2),
        (TMPFS + V1, "1021994", CgroupMode.V1),
        (TMPFS + UNIFIED + V1, "1021994", CgroupMode.HYBRID),
        ([], None, CgroupMode.UNKNOWN),
        (TMPFS, "1021994", CgroupMode.UNKNOWN),
        (TMPFS + UNIFIED, "1021994", CgroupMode.UNKNOWN),
        (TMPFS + V1[:1], "1021994", CgroupMode.UNKNOWN),
        (V2, "1021994", CgroupMode.UNKNOWN),
        (TMPFS + V1, "63677270", CgroupMode.UNKNOWN),
    ],
)
def test_the_cgroup_mode_is_found_or_unknown_with_a_reason(
    lines: list[str], magic: str | None, mode: CgroupMode
) -> None:
    cgroups = facts(lines, magic)
    assert cgroups.mode is mode
    assert cgroups.reason


def test_a_later_mount_hides_the_earlier_one() -> None:
    assert facts(TMPFS + V1 + V2, "63677270").mode is CgroupMode.V2


def test_v1_controllers_come_from_the_mounts_without_named_hierarchies() -> None:
    cgroups = facts(TMPFS + V1, "1021994")
    assert cgroups.controllers == ("cpu", "cpuacct", "memory")
    assert cgroups.mountpoints["cpu"] == "/sys/fs/cgroup/cpu,cpuacct"


def test_v2_controllers_come_from_the_root() -> None:
    assert facts(V2, cgroup_controllers="cpuset cpu io").controllers == ("cpuset", "cpu", "io")
