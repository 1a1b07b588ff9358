# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in a text a place is: its indentation, the string, brackets or YAML block it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIGN = re.compile(r"""\\.|(?<!\w)'|'(?!\w)|["{}\[\]]""")


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", ";", "//"))


def closing_quote(line: str, start: int, quote: str) -> int | None:
    """Where the string that began before ``start`` ends; backslashes escape in double quotes only."""
    pattern = r"(?:\\.|[^\\])*?" if quote[0] == '"' else r"(?:[^']|'')*?" if quote == "'" else r".*?"
    found = re.compile(pattern + re.escape(quote) + ("(?!')" if quote == "'" else "")).match(line, start)
    return found.end() - len(quote) if found else None


@dataclass
class Block:
    """Lines below a YAML key that belong to its value. ``literal``: column of the key or dash of a block scalar."""

    column: int
    comment: bool
    scalar: bool = False
    literal: int | None = None

    def covers(self, line: str) -> bool:
        """Whether the line is part of the value."""
        body = line
        if self.comment:
            if not is_comment(line):
                return False
            body = line.replace("#", " ", 1)
        indent = indent_of(body)
        at_key = indent == self.column and re.match(r"-(\s|$)", body.lstrip()) is not None
        return indent > self.column or (at_key and not self.scalar)


class Inside:
    """Which string and brackets of a line are open at a place."""

    def __init__(self) -> None:
        self.quote = ""
        self.brackets = 0

    def pass_over(self, line: str, start: int, end: int) -> None:
        """Take notice of what stands between two places."""
        for found in _SIGN.finditer(line, start, end):
            sign = found[0]
            if sign[0] == "\\":
                continue
            if sign in "\"'":
                self.quote = sign if not self.quote else "" if self.quote == sign else self.quote
            elif not self.quote:
                self.brackets = max(0, self.brackets + (1 if sign in "{[" else -1))
