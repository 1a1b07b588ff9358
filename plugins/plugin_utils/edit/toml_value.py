# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML keys and values: find their end, write them, and edit arrays and inline tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .bracket_list import Array, NewItem, append_to_array, remove_from_array, rewrite_array
from .document_changes import REMOVE, AppendItem, Edit, Item, ItemRemoval, Path, PendingEdits, Removal, differing_path
from .list_match import match_items
from .splice import NEWLINE, Splice, apply_splices, line_number
from .text_errors import UnsupportedEdit
from .toml_parser import parse_toml

_STRINGS = (
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}',
    r"'''(?:[^']|'(?!''))*'{3,5}",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'[^'\n]*'",
)
_STRING = re.compile("|".join(_STRINGS), re.DOTALL)
_NESTING = re.compile("|".join((*_STRINGS, r"#[^\n]*", r"[\[\]{}]")), re.DOTALL)
# One space may separate a date from its time.
_BARE = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,#\]}]*|[^\s,#\]}]+")
_KEY_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""", re.ASCII)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z", re.ASCII)
_DOT = re.compile(r"[ \t]*\.[ \t]*")
# Characters that a literal string can contain for every version of TOML.
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
        return next(iter(parse_toml(f"{part} = 0")))
    return part[1:-1] if part[0] in "\"'" else part


def key_text(parts: tuple[str, ...], quote: str = '"') -> str:
    """A dotted key; parts that need quotes get ``quote`` if possible."""
    return ".".join(part if _BARE_KEY.match(part) else string_text(part, quote) for part in parts)


def string_text(value: str, quote: str = '"') -> str:
    """A string; literal if ``quote`` is the single quote and the characters of the string allow it."""
    if quote == "'" and _LITERAL.match(value):
        return f"'{value}'"
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def value_text(value: PendingEdits | Edit | Item, quote: str = '"') -> str:
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
    if isinstance(value, (Removal, AppendItem, ItemRemoval)):
        raise TypeError("a removal, or a change of a list, has no text")
    return "[" + ", ".join(value_text(item, quote) for item in value) + "]"


def quote_of(source: str, default: str = '"') -> str:
    """The first quote in a piece of TOML."""
    quote: Any = re.search("[\"']", source)
    return quote[0] if quote else default


_BETWEEN_ITEMS = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")


def array_splices(
    text: str, start: int, end: int, key: str, edit: AppendItem | ItemRemoval | Sequence[Item]
) -> Iterator[Splice]:
    """Edit the array at text[start:end], or replace its items; UnsupportedEdit if the value is not an array."""
    line = line_number(text, start)
    if text[start] != "[":
        raise UnsupportedEdit(f"{key} is not a list", line, "Correct or delete this key")
    array = Array(text, start, end, tuple(_array_items(text, start + 1)))
    if isinstance(edit, AppendItem):
        yield from append_to_array(array, value_text(edit.item, quote_of(text[start:end])))
    elif not isinstance(edit, ItemRemoval):
        yield from rewrite_array(array, tuple(_new_items(array, edit)))
    elif len(edit.places) != 1:
        raise UnsupportedEdit(f"{key} holds an item twice", line, "Keep one of the two")
    else:
        yield from remove_from_array(array, edit.places[0])


def _new_items(array: Array, values: Sequence[Item]) -> Iterator[NewItem]:
    sources = [array.text[start:end] for start, end in array.items]
    old_values = [parse_toml(f"x = {source}")["x"] for source in sources]
    quote = quote_of(array.text[array.start : array.end])
    for value, old in zip(values, match_items(old_values, values), strict=True):
        same = old is not None and differing_path(old_values[old], value) is None
        yield NewItem(sources[old] if same and old is not None else value_text(value, quote), old)


def _array_items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The range of each item; ``at`` is behind the opening bracket."""
    while True:
        between = _BETWEEN_ITEMS.match(text, at)
        start = between.end() if between else at
        if text[start] == "]":
            return
        at = value_end(text, start)
        yield start, at


_BETWEEN_ENTRIES = re.compile(r"[ \t,]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")


@dataclass(frozen=True)
class _Item:
    key: Path
    start: int
    value: int
    end: int


def inline_table(text: str, start: int, end: int, todo: PendingEdits) -> str:
    """The new source of the inline table at text[start:end]; an emptied table keeps its braces."""
    line = line_number(text, start)
    if NEWLINE in text[start:end]:
        raise UnsupportedEdit("an inline table extends over several lines", line, "Write it as a [table]")
    items = list(_inline_entries(text, start))
    opening = text[start + 1 : items[0].start if items else end - 1]
    result = ""
    reached = start + 1
    for item in items:
        if todo.get(item.key[0]) is not REMOVE or len(item.key) > 1:
            before = text[reached : item.start] if result else opening
            result += before + _changed_entry(text, item, todo)
        reached = item.end
    known = {item.key[0] for item in items}
    fresh = ", ".join(f"{key_text((key,))} = {value_text(edit)}" for key, edit in todo.items() if key not in known)
    if not result:
        return "{" + opening + fresh + (opening if fresh else "") + "}"
    return "{" + result + (f", {fresh}" if fresh else "") + text[reached:end]


def _inline_entries(text: str, start: int) -> Iterator[_Item]:
    at = _behind(_BETWEEN_ENTRIES, text, start + 1)
    while text[at] != "}":
        key, behind = key_at(text, at)
        value = _behind(_EQUALS, text, behind)
        end = value_end(text, value)
        yield _Item(key, at, value, end)
        at = _behind(_BETWEEN_ENTRIES, text, end)


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _changed_entry(text: str, item: _Item, todo: PendingEdits) -> str:
    if item.key[0] not in todo:
        return text[item.start : item.end]
    edit = todo[item.key[0]]
    line = line_number(text, item.start)
    if len(item.key) > 1:
        raise UnsupportedEdit(f"{item.key[0]} is a dotted key in an inline table", line, "Write it as a [table]")
    nested = text[item.value] == "{"
    if isinstance(edit, dict) != nested:
        kind = "a table" if nested else "not a table"
        raise UnsupportedEdit(f"{item.key[0]} is {kind} here", line, "Correct or delete this key")
    if isinstance(edit, dict):
        value = inline_table(text, item.value, item.end, edit)
    elif isinstance(edit, (AppendItem, ItemRemoval)) or (isinstance(edit, list) and text[item.value] == "["):
        changed = apply_splices(text, array_splices(text, item.value, item.end, item.key[0], edit))
        value = changed[item.value : item.end + len(changed) - len(text)]
    else:
        value = value_text(edit, quote_of(text[item.value : item.end]))
    return text[item.start : item.value] + value
