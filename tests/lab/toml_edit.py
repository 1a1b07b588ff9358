# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting values in a TOML text printed by a program, in which every table has a header and every key a line."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[([^\[\]]+)\]\s*$")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")

Table = tuple[str, ...]


def has_table(text: str, table: Table) -> bool:
    """True when the text has a header of this table."""
    return any(_header(line) == table for line in text.splitlines())


def set_value(text: str, table: Table, key: str, value: str) -> str:
    """The text with ``key = value`` in an existing table; the value in TOML syntax."""
    lines = text.splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if _header(line) == table)
    end = next((number for number in range(start + 1, len(lines)) if _header(lines[number])), len(lines))
    pattern = re.compile(rf"^(\s*){re.escape(key)}\s*=.*$", re.MULTILINE)
    for number in range(start + 1, end):
        if pattern.match(lines[number]):
            lines[number] = pattern.sub(rf"\g<1>{key} = {value}", lines[number])
            return "".join(lines)
    indent = re.match(r"\s*", lines[start])
    lines.insert(start + 1, f"{indent.group() if indent else ''}  {key} = {value}\n")
    return "".join(lines)


def _header(line: str) -> Table:
    """The table of a header line, () for other lines."""
    match = _HEADER.match(line)
    return tuple("".join(part) for part in _PART.findall(match.group(1))) if match else ()
