# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists in brackets, of YAML and TOML: add, remove and replace items; comments of the other items stay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .splice import NEWLINE, Splice, line_end, line_end_style, line_number, line_start
from .text_errors import UnsupportedEdit

_STEP = "  "
_SPACES = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")
_TIGHT_COMMA = re.compile(r",[ \t]*\Z")


@dataclass(frozen=True)
class Array:
    """text[start:end] with its brackets, and the range of each item."""

    text: str
    start: int
    end: int
    items: tuple[tuple[int, int], ...]

    def behind(self, index: int) -> int:
        """Index behind an item and its comma, if it has one."""
        return self.comma(index) or self.items[index][1]

    def comma(self, index: int) -> int | None:
        """Index behind the comma that follows an item."""
        between = _BETWEEN.match(self.text, self.items[index][1])
        at = between.end() if between else self.end
        return at + 1 if self.text[at] == "," else None


def append_to_array(array: Array, source: str) -> Iterator[Splice]:
    """Add ``source`` as the last item: on a separate line if the closing bracket is on one."""
    text = array.text
    if not array.items:
        yield _first_item(array, source)
        return
    last, behind = len(array.items) - 1, array.behind(len(array.items) - 1)
    start, end = array.items[last]
    if NEWLINE not in text[behind : array.end]:
        yield Splice(end, end, _separator(array) + source)
        return
    comma = array.comma(last) is not None
    if not comma:
        yield Splice(end, end, ",")
    begin = line_start(text, start)
    step = "" if begin > array.start else _STEP
    at = line_end(text, behind)
    yield Splice(at, at, f"{_indent(text, begin)}{step}{source}{',' * comma}{line_end_style(text, at)}")


def remove_from_array(array: Array, index: int) -> Iterator[Splice]:
    """Remove one item; if it has a line for itself, with that line and its comment."""
    text = array.text
    start, end = array.items[index]
    behind = array.behind(index)
    line_tail = _REST_OF_LINE.match(text, behind)
    if line_tail and line_start(text, start) > array.start and not text[line_start(text, start) : start].strip():
        yield from _remove_comma_before_last(array, index)
        yield Splice(line_start(text, start), line_tail.end(), "")
    elif NEWLINE not in text[array.start : array.end] and len(array.items) == 1:
        yield Splice(start, array.end - 1, "")
    elif index > 0 and NEWLINE not in text[array.items[index - 1][1] : start]:
        yield Splice(array.items[index - 1][1], end, "")
    else:
        spaces = _SPACES.match(text, behind)
        yield Splice(start, spaces.end() if spaces else behind, "")


def _first_item(array: Array, source: str) -> Splice:
    text = array.text
    inside = text[array.start + 1 : array.end - 1]
    if NEWLINE not in inside:
        return Splice(array.start + 1, array.end - 1, f"{inside}{source}{inside}")
    at = line_start(text, array.end - 1)
    indent = _indent(text, line_start(text, array.start)) + _STEP
    return Splice(at, at, f"{indent}{source},{line_end_style(text, at)}")


def _separator(array: Array) -> str:
    """The comma between the last two items, and the spaces behind it."""
    if len(array.items) < 2:
        return ", "
    separator = _TIGHT_COMMA.match(array.text[array.items[-2][1] : array.items[-1][0]])
    return separator[0] if separator else ", "


def _remove_comma_before_last(array: Array, index: int) -> Iterator[Splice]:
    """If the removed item is the last one and has no comma, the item before it must have none either."""
    if index == len(array.items) - 1 and index > 0 and array.comma(index) is None:
        comma = array.comma(index - 1)
        if comma is not None:
            yield Splice(comma - 1, comma, "")


def _indent(text: str, start: int) -> str:
    match = _SPACES.match(text, start)
    return match[0] if match else ""


@dataclass(frozen=True)
class NewItem:
    """The source of an item of the new list, and the index of the old item whose place, lines and comments it takes."""

    source: str
    old: int | None = None


def rewrite_array(array: Array, items: Sequence[NewItem]) -> Iterator[Splice]:
    """Replace all items; UnsupportedEdit if comments between several items on one line would be lost."""
    if [item.old for item in items] == list(range(len(array.items))):
        for (start, end), item in zip(array.items, items, strict=True):
            yield Splice(start, end, item.source)
    elif _has_lines(array):
        yield _rewritten_lines(array, items)
    elif _has_comments(array):
        raise UnsupportedEdit(
            "a list has comments, and several items on one line",
            line_number(array.text, array.start),
            "Write each item on a separate line",
        )
    elif array.items and items:
        begin, behind = array.items[0][0], array.items[-1][1]
        yield Splice(begin, behind, _separator(array).join(item.source for item in items))
    else:
        yield Splice(array.start + 1, array.end - 1, ", ".join(item.source for item in items))


def _has_comments(array: Array) -> bool:
    reached = array.start
    for start, end in (*array.items, (array.end, array.end)):
        if "#" in array.text[reached:start]:
            return True
        reached = end
    return False


def _has_lines(array: Array) -> bool:
    """Whether each item has its own line, and the closing bracket another one."""
    text = array.text
    begins = [line_start(text, start) for start, _end in array.items]
    first_in_line = all(
        begin > array.start and not text[begin:start].strip()
        for begin, (start, _end) in zip(begins, array.items, strict=True)
    )
    last_in_line = all(_REST_OF_LINE.match(text, array.behind(index)) for index in range(len(array.items)))
    return bool(array.items) and first_in_line and last_in_line


def _rewritten_lines(array: Array, items: Sequence[NewItem]) -> Splice:
    """The lines of the items in their new order, each with the comments right above it; commas as before."""
    text, last = array.text, len(array.items) - 1
    begin, end = line_start(text, array.items[0][0]), line_end(text, array.behind(last))
    indent, newline = _indent(text, begin), line_end_style(text, end)
    ends_with_comma = array.comma(last) is not None
    lines = ""
    for number, item in enumerate(items):
        comma = "," if ends_with_comma or number < len(items) - 1 else ""
        if item.old is None:
            lines += f"{indent}{item.source}{comma}{newline}"
            continue
        start, old_end = array.items[item.old]
        behind = array.behind(item.old)
        # A comma in front of which a comment stands moves to its value.
        between = text[old_end:behind].removesuffix(",") if array.comma(item.old) else ""
        lines += f"{text[_block_start(array, item.old, begin) : start]}{item.source}{comma}{between}"
        lines += text[behind : line_end(text, behind)]
    return Splice(begin, end, lines)


def _block_start(array: Array, index: int, begin: int) -> int:
    """Where the lines of an item start: behind those of the item before it; for the first one at its own line."""
    return begin if index == 0 else line_end(array.text, array.behind(index - 1))
