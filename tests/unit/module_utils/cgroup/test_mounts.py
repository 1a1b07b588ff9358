# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Complete and incomplete lines of /proc/self/mountinfo."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import Hierarchy, parse_mount

LINE = r"30 23 0:26 /a\040b /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 none rw,nsdelegate"


def test_a_line_whose_source_is_not_a_file_system() -> None:
    assert parse_mount(LINE) == Hierarchy("/sys/fs/cgroup", "cgroup2", (), root="/a b")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "30 23 0:26 / /sys/fs/cgroup - cgroup2 none rw",
        "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none",
        "30 23 0:26 / /sys/fs/cgroup rw cgroup2 none rw",
    ],
)
def test_an_incomplete_line_is_not_a_mount(line: str) -> None:
    assert parse_mount(line) is None
