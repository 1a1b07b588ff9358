# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of docs/design.md are those that tests/tools/structure.py prints."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT
from ansible_collections.volcano.colocation.tests.run.structure_docs import BEFORE, count, structure_table
from ansible_collections.volcano.colocation.tests.tools.structure import DRIVER, report

PLUGINS = CHECKOUT / "plugins"


def test_the_figures_are_printed_too() -> None:
    files, median, single, names, longest, circle, driver, way = count(PLUGINS).values()
    printed = list(report(PLUGINS))
    beginnings = (
        f"files: {files} (",
        f"files with one importer: {single}",
        f"names of several files: {names}",
        f"longest function: {longest} lines",
        f"files that mention {DRIVER}: {driver}",
        f"files on the way of {DRIVER}: {way}",
    )
    assert [beginning for beginning in beginnings if not any(line.startswith(beginning) for line in printed)] == []
    assert any(line.startswith("lines: ") and line.endswith(f", median {median}") for line in printed)
    groups = printed[printed.index(next(line for line in printed if line.startswith("groups of packages"))) + 1 :]
    assert sum(len(group.split(", ")) for group in groups) == int(circle)


def test_the_table_has_both_columns() -> None:
    lines = structure_table().splitlines()
    assert lines[0] == "| | 150e3c6 | now |"
    assert [line.split(" | ")[:2] for line in lines[2:]] == [[f"| {name}", before] for name, before in BEFORE.items()]
