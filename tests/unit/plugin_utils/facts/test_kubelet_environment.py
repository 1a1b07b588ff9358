# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd puts in kubelet's command line: files by pattern, what is unset again, and nothing behind a colon."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import parse_next_line
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_kubelet_layers import text, with_unit

GLOB = "[Service]\nEnvironmentFile=-/etc/kubelet.d/*.env\nExecStart=\nExecStart=/usr/bin/kubelet $A $B\n"


def with_pattern(drop_in: str, **texts: str) -> dict[str, Any]:
    """The kubelet section of a node whose environment files in /etc/kubelet.d are those of ``texts``."""
    found = with_unit(drop_in)
    paths = [f"/etc/kubelet.d/{name}.env" for name in texts]
    found["environment_files"] = [*paths, "/etc/default/kubelet"]
    found["files"].update({path: text(each) for path, each in zip(paths, texts.values(), strict=True)})
    found["files"]["/etc/kubelet.d/*.env"] = {"kind": "pattern"}
    return found


def test_the_files_of_a_pattern_are_read_in_the_order_of_their_names() -> None:
    line = parse_next_line(with_pattern(GLOB, b="A=--v=2\n", a="A=--v=1\nB=--cgroup-driver=cgroupfs\n"))
    assert line[1:] == (
        ("--v=2", "A in /etc/kubelet.d/b.env"),
        ("--cgroup-driver=cgroupfs", "B in /etc/kubelet.d/a.env"),
    )
    assert [word for word, _source in parse_next_line(with_pattern(GLOB))] == ["/usr/bin/kubelet"]


@pytest.mark.parametrize("entry", [None, {"kind": "pattern", "error": "more than 16"}])
def test_a_pattern_whose_files_are_not_all_known_says_nothing(entry: dict[str, Any] | None) -> None:
    found = with_pattern(GLOB, a="A=--v=1\n")
    found["files"]["/etc/kubelet.d/*.env"] = entry
    assert parse_next_line({**found, "files": {path: each for path, each in found["files"].items() if each}}) == ()


@pytest.mark.parametrize(
    ("unset", "line"),
    [
        ("A", ["--b=2"]),
        ("A C", ["--b=2"]),
        ("'A=--a=1' B=other", ["--b=2"]),
        ("A=--a=2", ["--a=1", "--b=2"]),
        ("A\nUnsetEnvironment=B", []),
        ("A\nUnsetEnvironment=\nUnsetEnvironment=B", ["--a=1"]),
    ],
)
def test_unset_variables_are_empty_wherever_they_were_set(unset: str, line: list[str]) -> None:
    drop_in = (
        "[Service]\nEnvironment=A=--a=1\nEnvironmentFile=/etc/default/kubelet\n"
        f"UnsetEnvironment={unset}\nExecStart=\nExecStart=/usr/bin/kubelet $A $B\n"
    )
    assert [word for word, _source in parse_next_line(with_unit(drop_in, extra="B=--b=2\n"))][1:] == line


def test_a_colon_before_the_program_leaves_variables_as_they_are() -> None:
    drop_in = "[Service]\nEnvironment=A=--v=2\nExecStart=\nExecStart=-:/usr/bin/kubelet $A ${A}\n"
    assert [word for word, _source in parse_next_line(with_unit(drop_in))] == ["/usr/bin/kubelet", "$A", "${A}"]
