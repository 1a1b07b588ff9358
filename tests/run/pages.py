# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make docs` writes all generated texts; this file has the tables of pages, except those of docs/kubelet.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from . import entry_points, field_files, knob_docs, role_docs, structure_docs, variable_docs, variables, version_docs
from .blocks import replace_block
from .places import CHECKOUT
from .stages import Stage
from .suites import SUITES, Suite, duration

README = CHECKOUT / "README.md"
CONTRIBUTING = CHECKOUT / "docs" / "contributing.md"
VARIABLES, VERSIONS = CHECKOUT / "docs" / "variables.md", CHECKOUT / "docs" / "versions.md"
PAGES = (README, CONTRIBUTING, CHECKOUT / "docs" / "design.md", CHECKOUT / "docs" / "qos.md", VARIABLES, VERSIONS)

_BLOCK = "<!-- {name}: written by make docs -->\n"
_END = "<!-- end of {name} -->"


def update(page: Path) -> str:
    """The text of a page with current tables."""
    text = page.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        begin = _BLOCK.format(name=name)
        if begin in text:
            text = replace_block(text, begin, f"\n{table()}\n", _END.format(name=name))
    return text


def commands() -> str:
    rows = [f"| `make {suite.name}` | {suite.runs} | {duration(suite)} |" for suite in SUITES]
    return "\n".join(
        ["| command | runs | time on two cores, by the shares of its stages |", "|---|---|---|", *rows, ""]
    )


def stages(suite: Suite) -> str:
    return "\n".join(["| stage | share | proves |", "|---|---|---|", *map(_row, suite.stages), ""])


def _row(stage: Stage) -> str:
    warm = "" if stage.warm is None else f", {stage.warm} s from the cache"
    return f"| `{stage.name}` | {stage.share} s{warm} | {stage.proves} |"


TABLES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    **{suite.name: partial(stages, suite) for suite in SUITES if suite.stages},
    "knobs": knob_docs.knobs_table,
    "structure": structure_docs.structure_table,
    "minimums": version_docs.minimums_table,
    **{f"variables of {role}": partial(variable_docs.variables_table, role) for role in variable_docs.ROLES},
}
"""Tables by the name of their block."""


def main() -> int:
    for page in PAGES:
        page.write_text(update(page), encoding="utf-8")
    field_files.write()
    entry_points.write()
    variables.write()
    role_docs.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
