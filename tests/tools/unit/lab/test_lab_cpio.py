# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import stat

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.tests.lab.cpio import Entry, Link, archive
from ansible_collections.volcano.colocation.tests.lab.initrd import load_order, node_part, parse_dependencies


def unpack(blob: bytes) -> list[tuple[str, int, bytes]]:
    """Name, mode and content of each member, as the kernel reads them (init/initramfs.c)."""
    members = []
    at = 0
    while at < len(blob):
        assert blob[at : at + 6] == b"070701"
        numbers = [int(blob[at + 6 + 8 * field : at + 14 + 8 * field], 16) for field in range(13)]
        name = blob[at + 110 : at + 110 + numbers[11] - 1].decode()
        start = at + (110 + numbers[11] + 3) // 4 * 4
        if name != "TRAILER!!!":
            members.append((name, numbers[1], blob[start : start + numbers[6]]))
        at = start + (numbers[6] + 3) // 4 * 4
    return members


names = st.from_regex(r"[a-z]{1,4}", fullmatch=True)


@given(st.dictionaries(names, st.binary(max_size=99)), st.dictionaries(names, st.binary(max_size=99)))
def test_archives_unpack_one_after_the_other(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    joined = b"".join(
        archive([Entry(f"x/{name}", content) for name, content in part.items()]) for part in (first, second)
    )
    files = [(name, content) for name, mode, content in unpack(joined) if stat.S_ISREG(mode)]
    assert files == [(f"x/{name}", content) for part in (first, second) for name, content in part.items()]


def test_directories_come_before_their_files() -> None:
    members = unpack(archive([Entry("/a/b/c", b"1", 0o755), Entry("a/d", b"2")]))
    assert [(name, mode) for name, mode, _data in members] == [
        ("a", stat.S_IFDIR | 0o755),
        ("a/b", stat.S_IFDIR | 0o755),
        ("a/b/c", stat.S_IFREG | 0o755),
        ("a/d", stat.S_IFREG | 0o644),
    ]


def test_a_link_holds_its_target() -> None:
    (_directory, link) = unpack(archive([Link("/a/b", "/usr/bin/c")]))
    assert link == ("a/b", stat.S_IFLNK | 0o777, b"/usr/bin/c")


def test_a_nodes_part_holds_its_address_files_and_links() -> None:
    part = node_part("ADDRESS=1\n", {"/etc/hostname": "n\n"}, {"/etc/x": "/y"})
    members = {name: (stat.S_IFMT(mode), content) for name, mode, content in unpack(part)}
    assert members["node/network"] == (stat.S_IFREG, b"ADDRESS=1\n")
    assert members["node/files/etc/hostname"] == (stat.S_IFREG, b"n\n")
    assert members["node/files/etc/x"] == (stat.S_IFLNK, b"/y")


DEP = """kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz kernel/lib/crc16.ko.xz
kernel/fs/jbd2/jbd2.ko.xz:
kernel/lib/crc16.ko.xz:
kernel/arch/x86/crypto/crc32c-intel.ko.xz:
"""


def test_modules_load_after_their_dependencies() -> None:
    order = load_order(["crc32c-intel", "not_there", "ext4"], parse_dependencies(DEP))
    assert order == [
        "kernel/arch/x86/crypto/crc32c-intel.ko.xz",
        "kernel/lib/crc16.ko.xz",
        "kernel/fs/jbd2/jbd2.ko.xz",
        "kernel/fs/ext4/ext4.ko.xz",
    ]
