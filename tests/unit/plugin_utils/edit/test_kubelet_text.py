# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that agents look for are written plain when kubelet's file is edited."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import Changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.kubelet_text import edit_kubelet
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import ParseError

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
    ("before", "after"),
    [
        ('{"a": 1, "cgroupDriver": "cgroupfs"}\n', '{"a": 1, "cgroupDriver": "systemd"}\n'),
        ('{"a": 1}', '{"a": 1, "cgroupDriver": "systemd"}'),
        ('\n {\n  "a": 1\n }\n', '\n {\n  "a": 1,\n  "cgroupDriver": "systemd"\n }\n'),
        ('{\n"cgroupDriver": "cgroupfs"\n}', '{\n"cgroupDriver": "systemd"\n}'),
        ("{}", '{"cgroupDriver": "systemd"}'),
    ],
)
def test_json_stays_json(before: str, after: str) -> None:
    assert edit_kubelet(before, DRIVER) == after
    assert edit_kubelet(after, DRIVER) is after


def test_flow_style_behind_a_comment_is_yaml_to_kubelet_too() -> None:
    assert edit_kubelet("# x\n{cgroupDriver: cgroupfs}\n", DRIVER) == "# x\n{cgroupDriver: systemd}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{cgroupDriver: cgroupfs}\n", 1),
        ("\n  {cgroupDriver: cgroupfs}\n", 2),
        ("{'cgroupDriver': 'cgroupfs'}\n", 1),
        ('{"cgroupDriver": systemd}\n', 1),
        ('{"cgroupDriver": "cgroupfs",}\n', 1),
        ('{"a": 1}\n---\n{"b": 2}\n', 2),
    ],
)
def test_a_text_that_kubelet_reads_as_json_but_is_not_json_is_refused(text: str, line: int) -> None:
    with pytest.raises(ParseError, match="so kubelet reads it as JSON") as raised:
        edit_kubelet(text, DRIVER)
    assert raised.value.line == line
    assert str(raised.value.remedy).endswith(", or write YAML: one key a line, without the outer braces")


@pytest.mark.parametrize(
    ("text", "changes", "after"),
    [
        ('cgroupDriver: "systemd"\na: 1\n', {("a",): 2}, 'cgroupDriver: "systemd"\na: 2\n'),
        ("readOnlyPort: 1 # x\n", {("readOnlyPort",): 0}, "readOnlyPort: 0 # x\n"),
        ("clusterDomain: a # x\n", {("clusterDomain",): "b"}, "clusterDomain: b # x\n"),
        (
            'cgroupDriver: "systemd"\ncpuManagerPolicy: "none" # x\n',
            {("cpuManagerPolicy",): "static"},
            'cgroupDriver: "systemd"\n# x\ncpuManagerPolicy: static\n',
        ),
    ],
)
def test_other_lines_keep_quotes_and_comments(text: str, changes: Changes, after: str) -> None:
    assert edit_kubelet(text, changes) == after
