# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mount of a path, whether it is writable and persistent; on a tree and on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.machine_evidence import filesystems, machine

ENGINE = "/usr/local/lib/volcano-colocation"


def tree(directory: Path, mountinfo: str, **files: str) -> Host:
    """A host with this mountinfo."""
    for path, text in {"/proc/self/mountinfo": mountinfo, **files}.items():
        place = directory / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Host(str(directory))


def test_what_the_initramfs_mounted_may_come_before_the_root(tmp_path: Path) -> None:
    host = tree(tmp_path, "22 28 0:20 / /sys rw - sysfs sysfs rw\n28 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
    mounts = filesystems(host)
    assert {path: item["mount"] for path, item in mounts.items()} == dict.fromkeys(mounts, "/")
    assert mounts[ENGINE] == {
        "leads_to": ENGINE,
        "mount": "/",
        "type": "ext4",
        "read_only": False,
        "volatile": False,
    }


def test_the_longest_mount_point_counts_and_the_later_of_two(tmp_path: Path) -> None:
    lines = (
        "28 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "29 28 8:2 / /usr ro - ext4 /dev/sda2 rw\n"
        "30 28 8:3 / /usr/loc rw - ext4 /dev/sda3 rw\n"
        "31 28 8:4 / /etc ro - ext4 /dev/sda4 ro\n"
        "32 31 8:5 / /etc rw - ext4 /dev/sda5 rw\n"
    )
    mounts = filesystems(tree(tmp_path, lines))
    assert (mounts[ENGINE]["mount"], mounts[ENGINE]["read_only"]) == ("/usr", True)
    assert mounts["/etc/systemd/system"]["read_only"] is False


def test_a_file_system_is_read_only_as_a_whole_as_well(tmp_path: Path) -> None:
    mounts = filesystems(tree(tmp_path, "28 1 8:1 / / rw - ext4 /dev/sda1 ro,errors=remount-ro\n"))
    assert mounts["/etc"]["read_only"] is True


def test_links_are_followed(tmp_path: Path) -> None:
    host = tree(tmp_path, "28 1 8:1 / / ro - ext4 /dev/sda1 ro\n29 28 8:2 / /var rw - xfs /dev/sda2 rw\n")
    (tmp_path / "var/usrlocal").mkdir(parents=True)
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/local").symlink_to("../var/usrlocal")
    mounts = filesystems(host)[ENGINE]
    assert (mounts["leads_to"], mounts["mount"]) == ("/var/usrlocal/lib/volcano-colocation", "/var")


@pytest.mark.parametrize(
    ("line", "volatile"),
    [
        ("30 28 0:24 / /etc rw - tmpfs tmpfs rw", True),
        ("30 28 0:24 / /etc rw - ramfs none rw", True),
        ("30 28 0:24 / /etc rw - overlay overlay rw,lowerdir=/a,upperdir=/run/etc/upper,workdir=/run/etc/work", True),
        ("30 28 0:24 / /etc rw - overlay overlay rw,lowerdir=/a,upperdir=/var/etc/upper,workdir=/var/etc/work", False),
    ],
)
def test_what_is_in_memory_does_not_last(tmp_path: Path, line: str, volatile: bool) -> None:
    mounts = filesystems(tree(tmp_path, f"28 1 8:1 / / rw - ext4 /dev/sda1 rw\n{line}\n"))
    assert mounts["/etc/systemd/system"]["volatile"] is volatile


@pytest.mark.parametrize("mountinfo", ["", "garbage\n", "1 2 3\n\n - \n"])
def test_nothing_is_said_where_the_kernel_does_not_tell(tmp_path: Path, mountinfo: str) -> None:
    assert filesystems(tree(tmp_path, mountinfo)) == {}


def test_this_machine_agrees_with_statvfs() -> None:
    mounts = filesystems(Host())
    assert set(mounts) >= {"/", "/etc"}
    for path in ("/", "/usr", "/etc", "/var"):
        assert mounts[path]["read_only"] is bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def test_os_release_has_a_second_place(tmp_path: Path) -> None:
    host = tree(tmp_path, "", **{"/usr/lib/os-release": "ID=bottlerocket\n"})
    assert machine(host)["os_release"] == "ID=bottlerocket"
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\n")
    assert machine(host)["os_release"] == "ID=debian"
