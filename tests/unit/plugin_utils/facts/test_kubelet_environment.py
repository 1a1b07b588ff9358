# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables in kubelet's command line: files by pattern, unset variables, and no expansion after a colon."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import parse_next_line
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_kubelet_layers import text, with_unit

GLOB = "[Service]\nEnvironmentFile=-/etc/kubelet.d/*.env\nExecStart=\nExecStart=/usr/bin/kubelet $A $B\n"


def with_pattern(drop_in: str, **texts: str) -> dict[str, Any]:
    """The kubelet section of a node with the environment files ``texts`` in /etc/kubelet.d."""
    section = with_unit(drop_in)
    paths = [f"/etc/kubelet.d/{name}.env" for name in texts]
    section["environment_files"] = [*paths, "/etc/default/kubelet"]
    section["files"].update({path: text(content) for path, content in zip(paths, texts.values(), strict=True)})
    section["files"]["/etc/kubelet.d/*.env"] = {"kind": "pattern"}
    return section


def test_the_files_of_a_pattern_are_read_in_the_order_of_their_names() -> None:
    line = parse_next_line(with_pattern(GLOB, b="A=--v=2\n", a="A=--v=1\nB=--cgroup-driver=cgroupfs\n"))
    assert line[1:] == (
        ("--v=2", "A in /etc/kubelet.d/b.env"),
        ("--cgroup-driver=cgroupfs", "B in /etc/kubelet.d/a.env"),
    )
    assert [word for word, _source in parse_next_line(with_pattern(GLOB))] == ["/usr/bin/kubelet"]


@pytest.mark.parametrize("entry", [None, {"kind": "pattern", "error": "more than 16"}])
def test_a_pattern_with_unknown_files_gives_no_command_line(entry: dict[str, Any] | None) -> None:
    section = with_pattern(GLOB, a="A=--v=1\n")
    section["files"]["/etc/kubelet.d/*.env"] = entry
    assert (
        parse_next_line(
            {**section, "files": {path: captured for path, captured in section["files"].items() if captured}}
        )
        == ()
    )


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


def test_a_colon_before_the_program_disables_expansion() -> None:
    drop_in = "[Service]\nEnvironment=A=--v=2\nExecStart=\nExecStart=-:/usr/bin/kubelet $A ${A}\n"
    assert [word for word, _source in parse_next_line(with_unit(drop_in))] == ["/usr/bin/kubelet", "$A", "${A}"]
