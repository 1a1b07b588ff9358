# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML keys and values: how they are written, and where one that stands in a valid text ends."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .changes import Append, Dropped, Edit, Item, Removal, Todo
from .read import read_toml

_STRINGS = (
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}',
    r"'''(?:[^']|'(?!''))*'{3,5}",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'[^'\n]*'",
)
_STRING = re.compile("|".join(_STRINGS), re.DOTALL)
_NESTING = re.compile("|".join((*_STRINGS, r"#[^\n]*", r"[\[\]{}]")), re.DOTALL)
# A date may be parted from its time by one space.
_BARE = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,#\]}]*|[^\s,#\]}]+")
_KEY_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""", re.ASCII)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z", re.ASCII)
_DOT = re.compile(r"[ \t]*\.[ \t]*")
# What a literal string can hold, and a reader of any age takes there.
_LITERAL = re.compile("[^'\x00-\x1f\x7f-\x9f\ud800-\udfff]*\\Z")
_UNPRINTABLE = re.compile("[\x7f-\x9f]")


def value_end(text: str, start: int) -> int:
    """Index behind the value that starts at ``start``."""
    opening = text[start]
    if opening in "[{":
        return _nested_end(text, start)
    match = (_STRING if opening in "\"'" else _BARE).match(text, start)
    return match.end() if match else start


def _nested_end(text: str, start: int) -> int:
    depth = 0
    for match in _NESTING.finditer(text, start):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
        if depth == 0:
            return match.end()
    return len(text)


def key_at(text: str, start: int) -> tuple[tuple[str, ...], int]:
    """The parts of the dotted key that starts at ``start``, and the index behind it."""
    parts: list[str] = []
    reached = start
    while True:
        match = _KEY_PART.match(text, reached)
        if match is None:
            return tuple(parts), reached
        parts.append(_unquoted(match[0]))
        reached = match.end()
        dot = _DOT.match(text, reached)
        if dot is None:
            return tuple(parts), reached
        reached = dot.end()


def _unquoted(part: str) -> str:
    if part[0] == '"' and "\\" in part:
        return next(iter(read_toml(f"{part} = 0")))
    return part[1:-1] if part[0] in "\"'" else part


def key_text(parts: tuple[str, ...], quote: str = '"') -> str:
    """A dotted key; parts that need quotes get ``quote`` where they can."""
    return ".".join(part if _BARE_KEY.match(part) else string_text(part, quote) for part in parts)


def string_text(value: str, quote: str = '"') -> str:
    """A string; literal (in single quotes) if ``quote`` says so and its characters allow."""
    if quote == "'" and _LITERAL.match(value):
        return f"'{value}'"
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def value_text(value: Todo | Edit | Item, quote: str = '"') -> str:
    """One line of TOML for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value, quote)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key_text((key,))} = {value_text(below, quote)}" for key, below in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, (Removal, Append, Dropped)):
        raise TypeError("a removal, or a change of a list, has no text")
    return "[" + ", ".join(value_text(item, quote) for item in value) + "]"


def quote_of(source: str, default: str = '"') -> str:
    """The quote that a piece of TOML uses first."""
    found: Any = re.search("[\"']", source)
    return found[0] if found else default
