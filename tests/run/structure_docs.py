# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of docs/design.md that compares the plugins with those before they were divided by subject."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.volcano.colocation.tests.tools.structure import (
    DRIVER,
    LAYERS,
    PluginFile,
    cycles,
    importers,
    load,
    longest,
    namesakes,
    package_graph,
    way,
)

from .places import CHECKOUT

BEFORE_COMMIT = "150e3c6"
BEFORE: Mapping[str, str] = {
    "files of the plugins": "493",
    "median lines of a file": "87",
    "files that only one other file imports": "139",
    "names that several files have": "57",
    "lines of the longest function": "53",
    "packages that import each other in a circle": "8",
    f"files that mention `{DRIVER}`": "63",
    f"files on the way of `{DRIVER}`": "43",
}
"""The figures of that commit, counted by the same code."""


def count(plugins: Path) -> dict[str, str]:
    """The figures of a directory of plugins, by the keys of ``BEFORE``."""
    files = load(plugins)
    return dict(zip(BEFORE, (*_figures(files), str(len(way(plugins)))), strict=True))


def _figures(files: tuple[PluginFile, ...]) -> tuple[str, ...]:
    single = [name for name, number in importers(files).items() if number == 1 and name[0] in LAYERS]
    return (
        str(len(files)),
        f"{statistics.median(file.lines for file in files):g}",
        str(len(single)),
        str(len(namesakes(files))),
        str(longest(files)[0]),
        str(sum(map(len, cycles(package_graph(files))))),
        str(sum(DRIVER in file.text for file in files)),
    )


def structure_table(plugins: Path = CHECKOUT / "plugins") -> str:
    now = count(plugins)
    rows = [f"| {name} | {before} | {now[name]} |" for name, before in BEFORE.items()]
    return "\n".join((f"| | {BEFORE_COMMIT} | now |", "|---|---|---|", *rows, ""))
