# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits inside an inline table: `{ cpu = 1, memory = "1Gi" }`, spacing and quotes of the other entries kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .changes import REMOVE, Append, Dropped, Path, Todo
from .errors import UnsupportedEdit
from .lines import NEWLINE, line_number
from .splice import spliced
from .toml_list import list_splices
from .toml_value import key_at, key_text, quote_of, value_end, value_text

_BETWEEN = re.compile(r"[ \t,]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")


@dataclass(frozen=True)
class _Item:
    key: Path
    start: int
    value: int
    end: int


def inline_table(text: str, start: int, end: int, todo: Todo) -> str:
    """The new source of the inline table at text[start:end]; one that is emptied keeps its braces."""
    line = line_number(text, start)
    if NEWLINE in text[start:end]:
        raise UnsupportedEdit("an inline table goes on for several lines", line, "Write it as a [table]")
    items = list(_items(text, start))
    opening = text[start + 1 : items[0].start if items else end - 1]
    result = ""
    reached = start + 1
    for item in items:
        if todo.get(item.key[0]) is not REMOVE or len(item.key) > 1:
            before = text[reached : item.start] if result else opening
            result += before + _entry(text, item, todo)
        reached = item.end
    known = {item.key[0] for item in items}
    fresh = ", ".join(f"{key_text((key,))} = {value_text(want)}" for key, want in todo.items() if key not in known)
    if not result:
        return "{" + opening + fresh + (opening if fresh else "") + "}"
    return "{" + result + (f", {fresh}" if fresh else "") + text[reached:end]


def _items(text: str, start: int) -> Iterator[_Item]:
    at = _behind(_BETWEEN, text, start + 1)
    while text[at] != "}":
        key, behind = key_at(text, at)
        value = _behind(_EQUALS, text, behind)
        end = value_end(text, value)
        yield _Item(key, at, value, end)
        at = _behind(_BETWEEN, text, end)


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _entry(text: str, item: _Item, todo: Todo) -> str:
    if item.key[0] not in todo:
        return text[item.start : item.end]
    want = todo[item.key[0]]
    line = line_number(text, item.start)
    if len(item.key) > 1:
        raise UnsupportedEdit(f"{item.key[0]} is a dotted key in an inline table", line, "Write it as a [table]")
    nested = text[item.value] == "{"
    if isinstance(want, dict) != nested:
        kind = "a table" if nested else "no table"
        raise UnsupportedEdit(f"{item.key[0]} is {kind} here", line, "Correct or delete this key")
    if isinstance(want, dict):
        value = inline_table(text, item.value, item.end, want)
    elif isinstance(want, (Append, Dropped)):
        changed = spliced(text, list_splices(text, item.value, item.end, item.key[0], want))
        value = changed[item.value : item.end + len(changed) - len(text)]
    else:
        value = value_text(want, quote_of(text[item.value : item.end]))
    return text[item.start : item.value] + value
