# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace ranges of a text, add and remove items of a list in brackets, and prove that nothing else changed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .document_changes import differing_path, dotted_path
from .text_errors import EditError, ParseError

BOM = "\ufeff"
NEWLINE = "\n"


def line_end_style(text: str, position: int) -> str:
    """The line end for a new line at ``position``: that of the line before it, else the first of the text."""
    end = text.rfind(NEWLINE, 0, position)
    if end < 0:
        end = text.find(NEWLINE)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else NEWLINE


def line_start(text: str, position: int) -> int:
    """Index of the first character of the line that contains ``position``."""
    return text.rfind(NEWLINE, 0, position) + 1


def line_end(text: str, position: int) -> int:
    """Index behind the line break of the line that contains ``position``."""
    end = text.find(NEWLINE, position)
    return len(text) if end < 0 else end + 1


def line_number(text: str, position: int) -> int:
    """1-based line of a position, for messages."""
    return text.count(NEWLINE, 0, position) + 1


@dataclass(frozen=True)
class Splice:
    """Replaces [start, end) with ``text``. Of two insertions at one position the lower ``rank`` comes first."""

    start: int
    end: int
    text: str
    rank: int = 0


@dataclass(frozen=True)
class Envelope:
    """The byte order mark of a text, and whether its last line has a line end."""

    mark: str
    ended: bool

    @classmethod
    def of(cls, text: str) -> tuple[Envelope, str]:
        """The envelope, and the lines, the last one with a line end."""
        mark = BOM if text.startswith(BOM) else ""
        body = text[len(mark) :]
        ended = not body or body.endswith(NEWLINE)
        return cls(mark, ended), body if ended else body + line_end_style(body, len(body))

    def around(self, body: str) -> str:
        """The text with these lines."""
        if not self.ended and body.endswith(NEWLINE):
            body = body[: -2 if body.endswith("\r\n") else -1]
        return self.mark + body


def apply_splices(text: str, splices: Iterable[Splice]) -> str:
    """The text after all replacements; EditError if they overlap or would change a line outside of their ranges."""
    parts = []
    reached = 0
    ordered = sorted(splices, key=lambda splice: (splice.start, splice.end, splice.rank))
    for splice in ordered:
        if splice.start < reached:
            raise EditError("two changes overlap", line_number(text, splice.start), "Make them one by one")
        parts += [text[reached : splice.start], splice.text]
        reached = splice.end
    result = "".join([*parts, text[reached:]])
    if not _keeps_other_lines(text, result, ordered):
        raise EditError("the edit would change unrelated lines", line_number(text, ordered[0].start))
    return result


def _keeps_other_lines(before: str, after: str, splices: Iterable[Splice]) -> bool:
    lines = before.split(NEWLINE)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    touched: set[int] = set()
    for splice in splices:
        first = bisect_right(starts, splice.start) - 1
        inside = splice.end > splice.start or splice.start != starts[first]
        last = bisect_right(starts, max(splice.end - 1, splice.start)) - 1
        touched.update(range(first, last + 1) if inside else ())
    remaining = iter(after.split(NEWLINE))
    return all(line in remaining for number, line in enumerate(lines) if number not in touched)


def require_document(text: str, expected: dict[str, Any], read: Callable[[str], dict[str, Any]]) -> str:
    """``text`` if it parses to the expected document; EditError otherwise, so that no wrong text is returned."""
    try:
        document = read(text)
    except ParseError as error:
        raise EditError(
            f"the edit was abandoned because its result would not parse: {error.message}",
            remedy="Make this change by hand",
        ) from error
    differing = differing_path(document, expected)
    if differing is not None:
        raise EditError(
            "the edit was abandoned because its result would not have the desired value of"
            f" {dotted_path(differing) or 'the document'}",
            remedy="Make this change by hand",
        )
    return text


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
