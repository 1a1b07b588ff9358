# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace ranges of a text, and prove that nothing else changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
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
