# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces ranges of a text, and proves that nothing else changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .changes import dotted
from .document import difference
from .errors import EditError, ParseError
from .lines import BOM, NEWLINE, line_end_style, line_number


@dataclass(frozen=True)
class Splice:
    """``text`` in place of [start, end). Of two insertions at one place the lower ``rank`` comes first."""

    start: int
    end: int
    text: str
    rank: int = 0


@dataclass(frozen=True)
class Envelope:
    """What surrounds the lines of a text: its byte order mark, and whether the last line is ended."""

    mark: str
    ended: bool

    @classmethod
    def of(cls, text: str) -> tuple[Envelope, str]:
        """The envelope, and the lines with the last one ended."""
        mark = BOM if text.startswith(BOM) else ""
        body = text[len(mark) :]
        ended = not body or body.endswith(NEWLINE)
        return cls(mark, ended), body if ended else body + line_end_style(body, len(body))

    def around(self, body: str) -> str:
        """The text that has these lines."""
        if not self.ended and body.endswith(NEWLINE):
            body = body[: -2 if body.endswith("\r\n") else -1]
        return self.mark + body


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all replacements made; EditError when they collide or would change a line they do not touch."""
    parts = []
    reached = 0
    ordered = sorted(splices, key=lambda each: (each.start, each.end, each.rank))
    for each in ordered:
        if each.start < reached:
            raise EditError("two changes fall on the same place", line_number(text, each.start), "Make them one by one")
        parts += [text[reached : each.start], each.text]
        reached = each.end
    result = "".join([*parts, text[reached:]])
    if not _keeps_other_lines(text, result, ordered):
        raise EditError("the edit would change lines that have no part in it", line_number(text, ordered[0].start))
    return result


def _keeps_other_lines(before: str, after: str, splices: Iterable[Splice]) -> bool:
    lines = before.split(NEWLINE)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    touched: set[int] = set()
    for each in splices:
        first = bisect_right(starts, each.start) - 1
        inside = each.end > each.start or each.start != starts[first]
        last = bisect_right(starts, max(each.end - 1, each.start)) - 1
        touched.update(range(first, last + 1) if inside else ())
    remaining = iter(after.split(NEWLINE))
    return all(line in remaining for number, line in enumerate(lines) if number not in touched)


def proven(text: str, expected: dict[str, Any], read: Callable[[str], dict[str, Any]]) -> str:
    """``text`` if it reads as the expected document; EditError otherwise, so that a wrong text never leaves."""
    try:
        found = read(text)
    except ParseError as error:
        raise EditError(
            f"the edit was given up because its result would not parse: {error.message}",
            remedy="Make this change by hand",
        ) from error
    other = difference(found, expected)
    if other is not None:
        raise EditError(
            f"the edit was given up because {dotted(other) or 'the document'} would not read as wanted afterwards",
            remedy="Make this change by hand",
        )
    return text
