# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One item more or less in a list in brackets, of TOML or YAML, on one line or several; all others stay as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .lines import NEWLINE, line_end, line_end_style, line_start
from .splice import Splice

_STEP = "  "
_BLANKS = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")
_TIGHT = re.compile(r",[ \t]*\Z")


@dataclass(frozen=True)
class Array:
    """text[start:end] with its brackets, and where each item stands."""

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


def appended(array: Array, source: str) -> Iterator[Splice]:
    """``source`` as the last item: on a line of its own where the closing bracket has one."""
    text = array.text
    if not array.items:
        yield _first(array, source)
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
    yield Splice(at, at, f"{_blanks(text, begin)}{step}{source}{',' * comma}{line_end_style(text, at)}")


def without(array: Array, index: int) -> Iterator[Splice]:
    """The list without one item: without its line, comment included, where it has one of its own."""
    text = array.text
    start, end = array.items[index]
    behind = array.behind(index)
    rest = _REST_OF_LINE.match(text, behind)
    if rest and line_start(text, start) > array.start and not text[line_start(text, start) : start].strip():
        yield from _last_comma(array, index)
        yield Splice(line_start(text, start), rest.end(), "")
    elif NEWLINE not in text[array.start : array.end] and len(array.items) == 1:
        yield Splice(start, array.end - 1, "")
    elif index > 0 and NEWLINE not in text[array.items[index - 1][1] : start]:
        yield Splice(array.items[index - 1][1], end, "")
    else:
        following = _BLANKS.match(text, behind)
        yield Splice(start, following.end() if following else behind, "")


def _first(array: Array, source: str) -> Splice:
    text = array.text
    inside = text[array.start + 1 : array.end - 1]
    if NEWLINE not in inside:
        return Splice(array.start + 1, array.end - 1, f"{inside}{source}{inside}")
    at = line_start(text, array.end - 1)
    blanks = _blanks(text, line_start(text, array.start)) + _STEP
    return Splice(at, at, f"{blanks}{source},{line_end_style(text, at)}")


def _separator(array: Array) -> str:
    """The comma between the last two items, and the blanks behind it."""
    if len(array.items) < 2:
        return ", "
    tight = _TIGHT.match(array.text[array.items[-2][1] : array.items[-1][0]])
    return tight[0] if tight else ", "


def _last_comma(array: Array, index: int) -> Iterator[Splice]:
    """Without the last item, which has no comma, the one before is to have none either."""
    if index == len(array.items) - 1 and index > 0 and array.comma(index) is None:
        comma = array.comma(index - 1)
        if comma is not None:
            yield Splice(comma - 1, comma, "")


def _blanks(text: str, start: int) -> str:
    match = _BLANKS.match(text, start)
    return match[0] if match else ""
