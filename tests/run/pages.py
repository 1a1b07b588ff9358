# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The generated tables of README.md and docs/contributing.md; `make docs` writes all that is generated."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from . import variables
from .places import CHECKOUT
from .stages import Stage
from .suites import SUITES, Suite, duration

README = CHECKOUT / "README.md"
CONTRIBUTING = CHECKOUT / "docs" / "contributing.md"

_BLOCK = "<!-- {name}: written by make docs -->\n"
_END = "<!-- end of {name} -->"


def update(page: Path) -> str:
    """The text of a page with its tables as they are to be."""
    text = page.read_text(encoding="utf-8")
    for name, table in {"commands": commands(), **{suite.name: stages(suite) for suite in SUITES}}.items():
        text = _replace(text, _BLOCK.format(name=name), table, _END.format(name=name))
    return text


def _replace(text: str, begin: str, table: str, end: str) -> str:
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    return block.sub(lambda _: f"{begin}\n{table}\n{end}", text)


def commands() -> str:
    rows = [f"| `make {suite.name}` | {suite.runs} | {duration(suite)} |" for suite in SUITES]
    return "\n".join(["| command | runs | on two cores, by the shares of its stages |", "|---|---|---|", *rows, ""])


def stages(suite: Suite) -> str:
    return "\n".join(["| stage | share | proves |", "|---|---|---|", *map(_row, suite.stages), ""])


def _row(stage: Stage) -> str:
    warm = "" if stage.warm is None else f", {stage.warm} s from the cache"
    return f"| `{stage.name}` | {stage.share} s{warm} | {stage.proves} |"


def main() -> int:
    for page in (README, CONTRIBUTING):
        page.write_text(update(page), encoding="utf-8")
    variables.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
