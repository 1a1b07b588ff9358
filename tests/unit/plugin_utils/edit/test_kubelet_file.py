# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that agents look for are left plain where kubelet's file is written."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.changes import Changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.kubelet_file import edit_kubelet

DRIVER: Changes = {("cgroupDriver",): "systemd"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cgroupDriver: systemd\n", "cgroupDriver: systemd\n"),
        ('a: 1\ncgroupDriver: "systemd"\nb: 2\n', "a: 1\ncgroupDriver: systemd\nb: 2\n"),
        ("cgroupDriver: 'cgroupfs' # old\n", "# old\ncgroupDriver: systemd\n"),
        ("cgroupDriver:   systemd\n", "cgroupDriver: systemd\n"),
        ("cgroupDriver: systemd  # why\nb: 2\n", "# why\ncgroupDriver: systemd\nb: 2\n"),
        ("cgroupDriver: cgroupfs # why\r\nb: 2\r\n", "# why\r\ncgroupDriver: systemd\r\nb: 2\r\n"),
        ('b: 2\ncgroupDriver: "systemd"', "b: 2\ncgroupDriver: systemd"),
        ("b: 2\ncgroupDriver: systemd # why", "b: 2\n# why\ncgroupDriver: systemd"),
        ("b: 2\n", "b: 2\ncgroupDriver: systemd\n"),
        ('{"cgroupDriver": "systemd"}\n', '{"cgroupDriver": "systemd"}\n'),
        ('x:\n  cgroupDriver: "a"\ncgroupDriver: "systemd"\n', 'x:\n  cgroupDriver: "a"\ncgroupDriver: systemd\n'),
    ],
)
def test_the_line_is_plain_and_its_comment_stays(before: str, after: str) -> None:
    assert edit_kubelet(before, DRIVER) == after
    assert edit_kubelet(after, DRIVER) == after


@pytest.mark.parametrize(
    ("text", "changes", "after"),
    [
        ('cgroupDriver: "systemd"\na: 1\n', {("a",): 2}, 'cgroupDriver: "systemd"\na: 2\n'),
        ("readOnlyPort: 1 # x\n", {("readOnlyPort",): 0}, "readOnlyPort: 0 # x\n"),
        (
            'cgroupDriver: "systemd"\ncpuManagerPolicy: "none" # x\n',
            {("cpuManagerPolicy",): "static"},
            'cgroupDriver: "systemd"\n# x\ncpuManagerPolicy: static\n',
        ),
    ],
)
def test_other_lines_keep_quotes_and_comments(text: str, changes: Changes, after: str) -> None:
    assert edit_kubelet(text, changes) == after
