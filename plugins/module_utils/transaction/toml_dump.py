# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding one value in the TOML that a program dumps: canonical output, one table header or value a line.

It is no TOML parser: multi-line strings and arrays are passed over, and files written by people are not for it.
"""

from __future__ import annotations

import re
from typing import Dict, Tuple

PART = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.|\Z)")
HEADER = re.compile(r"\s*\[([^\[\]].*)\]\s*\Z")
VALUE = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\s*=\s*(.*?)\s*\Z")


Values = Dict[Tuple[Tuple[str, ...], str], str]


def find(text: str, table: tuple[str, ...], key: str) -> str | None:
    """The value of ``key`` in ``[table]`` as it stands there, quotes of a string taken off; None when absent."""
    found = values(text).get((table, key))
    return None if found is None else _unquoted(found)


def values(text: str) -> Values:
    """Every value by its table and key, as it stands there. Those of arrays of tables are left out."""
    found: Values = {}
    here: tuple[str, ...] | None = ()
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            here = _parts(header.group(1))
        elif line.lstrip().startswith("[["):
            here = None
        value = VALUE.match(line)
        if value and here is not None:
            found.setdefault((here, _chosen(value)), value.group(4))
    return found


def _parts(name: str) -> tuple[str, ...] | None:
    parts: list[str] = []
    at = 0
    while at < len(name):
        part = PART.match(name, at)
        if part is None:
            return None
        parts.append(_chosen(part))
        at = part.end()
    return tuple(parts)


def _chosen(match: re.Match[str]) -> str:
    return next(group for group in match.groups()[:3] if group is not None)


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
