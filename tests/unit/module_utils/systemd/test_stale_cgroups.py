# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.systemd.stale_cgroups import (
    mount_points,
    processes,
    remove_cgroup,
)
from ansible_collections.volcano.colocation.tests.support.node.simulation import Simulation

V1 = """\
24 1 254:0 / / rw,noatime shared:1 - ext4 /dev/vda rw
28 24 0:23 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:6 - tmpfs tmpfs ro,size=4096k,nr_inodes=1024,mode=755
29 28 0:24 / /sys/fs/cgroup/systemd rw,nosuid shared:7 - cgroup cgroup rw,xattr,name=systemd
33 28 0:28 / /sys/fs/cgroup/cpuset rw,nosuid shared:11 - cgroup cgroup rw,cpuset
34 28 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:12 - cgroup cgroup rw,cpu,cpuacct
90 28 0:29 / /mnt/again rw,nosuid - cgroup cgroup rw,cpu,cpuacct
91 28 0:24 /system.slice /mnt/part rw,nosuid - cgroup cgroup rw,xattr,name=systemd
"""


def directory(simulation: Simulation, path: str) -> Path:
    return Path(simulation.host.path("/sys/fs/cgroup/" + path))


def test_mount_points_of_cgroups_are_read_from_the_mount_table() -> None:
    assert mount_points(V1) == ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cpu,cpuacct"]
    assert mount_points("30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n") == ["/sys/fs/cgroup"]


def test_a_plain_tree_is_removed_from_every_hierarchy(simulation: Simulation) -> None:
    simulation.write("/proc/self/mountinfo", V1)
    for hierarchy in ("systemd", "cpuset", "cpu,cpuacct"):
        directory(simulation, hierarchy + "/kubepods/besteffort/pod1").mkdir(parents=True)
        directory(simulation, hierarchy + "/system.slice").mkdir()
    assert remove_cgroup(simulation.node, "kubepods") == "kubepods: removed"
    assert remove_cgroup(simulation.node, "kubepods") == "kubepods: none"
    for hierarchy in ("systemd", "cpuset", "cpu,cpuacct"):
        assert [path.name for path in directory(simulation, hierarchy).iterdir()] == ["system.slice"]


def test_a_tree_with_a_process_is_not_removed(simulation: Simulation) -> None:
    simulation.write("/sys/fs/cgroup/kubepods/besteffort/pod1/cgroup.procs", "4711\n12\n")
    assert processes(simulation.host, "/sys/fs/cgroup/kubepods") == {12, 4711}
    assert remove_cgroup(simulation.node, "kubepods") == "kubepods: not removed, process 12 is in it"
    assert directory(simulation, "kubepods/besteffort/pod1").is_dir()


def test_a_cgroup_is_removed_on_a_node_with_very_many_mounts(simulation: Simulation) -> None:
    overlay = "40 24 0:50 / /run/containerd/x rw - overlay overlay rw,lowerdir=" + "/var/lib/containerd" * 50 + "\n"
    simulation.write("/proc/self/mountinfo", overlay * 3000 + V1)
    directory(simulation, "cpuset/kubepods").mkdir(parents=True)
    assert remove_cgroup(simulation.node, "kubepods") == "kubepods: removed"


def test_a_slice_is_stopped_by_systemd(simulation: Simulation) -> None:
    directory(simulation, "kubepods.slice").mkdir(parents=True)
    assert remove_cgroup(simulation.node, "kubepods.slice") == "kubepods.slice: removed"
    assert ("systemctl", "stop", "kubepods.slice") in simulation.commands


def test_links_are_not_followed(simulation: Simulation) -> None:
    outside = directory(simulation, "elsewhere/inner")
    outside.mkdir(parents=True)
    directory(simulation, "kubepods/sub").mkdir(parents=True)
    directory(simulation, "kubepods/link").symlink_to(outside.parent)
    assert remove_cgroup(simulation.node, "kubepods").startswith("kubepods: cannot be removed from")
    assert outside.is_dir()
