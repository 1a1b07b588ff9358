# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a node has: files, kernel files, and what stands where a file is expected."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import CHUNK, Host


@pytest.mark.parametrize("path", ["/proc/sys/kernel/osrelease", "/proc/version"])
def test_a_kernel_file_is_read_with_the_limit_of_tables(path: str) -> None:
    # A sysctl file refuses a read that asks for as much as a table may hold.
    assert os.uname().release in Host("/").read_table(path)


def test_a_file_of_many_chunks_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    content = os.urandom(2 * CHUNK + 7)
    (tmp_path / "file").write_bytes(content)
    host = Host(str(tmp_path))
    assert host.read_bytes("/file", len(content)) == content
    with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        host.read_bytes("/file", len(content) - 1)


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert Host(str(tmp_path)).read_bytes("/fifo") == b""


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    with pytest.raises(IsADirectoryError):
        Host(str(tmp_path)).read_bytes("/directory")


def test_a_directory_that_is_read_as_a_file_is_not_left_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(IsADirectoryError, match="/etc"):
        Host("/").read("/etc")
    assert os.listdir("/proc/self/fd") == before
