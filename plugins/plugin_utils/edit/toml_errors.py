# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of a TOML text: the line, the key or table, and for what the text has twice also the line of the first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .splice import NEWLINE, line_number
from .syntax_messages import CUT_OFF, KEEP_ONE, SyntaxMessage, explain, repeated_key
from .text_errors import ParseError
from .toml_layout import Setting, Table, scan
from .toml_value import key_text

Statement = Table | Setting

_PLACE = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)")
_TWICE = "Cannot "
"""The beginning of the parsers' messages about keys and tables that a text has twice."""

_IN_BRACES = "Write all of its keys in the braces, or all of them below a [table] header"
_ONE_HEADER = "Move the settings below one header and delete the other"
_DOTTED = "Write its keys as dotted keys too, or move all of them below the header"
_BELOW_HEADER = "Move the key below that header"


def toml_error(text: str, error: ValueError) -> ParseError:
    """The error of a text that ``parse_toml`` refuses."""
    raw = str(error)
    place = _PLACE.search(raw)
    message = explain("TOML", raw)
    if place is None:
        return ParseError(message.problem, remedy=message.remedy)
    if place[1] is None:
        return ParseError(CUT_OFF.problem, line_number(text, len(text)), remedy=CUT_OFF.remedy)
    line, column = int(place[1]), int(place[2])
    repeated = _repeated(text, line, column) if raw.startswith(_TWICE) else None
    return repeated or ParseError(message.problem, line, column, message.remedy)


def _repeated(text: str, line: int, column: int) -> ParseError | None:
    """The error of a statement whose key or table an earlier statement made; None if that is not found."""
    *earlier, statement = _statements_up_to(text, line)
    first = next((part for part in _same_element(earlier, statement) if _overlap(part, statement)), None)
    if first is None:
        return None
    begin, line = line_number(text, first.start), line_number(text, statement.start)
    message = _conflict(text, first, statement, begin)
    if message is None:
        return repeated_key(key_text(statement.path), line, begin, column)
    return ParseError(message.problem, line, column, message.remedy)


def _statements_up_to(text: str, line: int) -> Iterator[Statement]:
    """The statements up to the one that reaches this line; the text is valid up to there."""
    begin = -1
    for _line in range(line - 1):
        begin = text.index(NEWLINE, begin + 1)
    for part in scan(text):
        yield part
        if part.end > begin + 1:
            return


def _same_element(earlier: list[Statement], statement: Statement) -> list[Statement]:
    """The earlier statements, or those in the same element of a list of tables."""
    for number in reversed(range(len(earlier))):
        part = earlier[number]
        if isinstance(part, Table) and part.array and part.path == statement.path[: len(part.path)]:
            return earlier[number:]
    return earlier


def _overlap(part: Statement, statement: Statement) -> bool:
    """Whether both make the same key, or one makes what the other uses as a table."""
    length = min(len(part.path), len(statement.path))
    if part.path[:length] != statement.path[:length]:
        return False
    if isinstance(part, Setting):
        return length == len(part.path) or len(part.table.path) < length
    if isinstance(statement, Setting):
        return len(part.path) > len(statement.table.path)
    return part.path == statement.path


def _conflict(text: str, first: Statement, statement: Statement, line: int) -> SyntaxMessage | None:
    """How two statements contradict each other; None for a key that is set twice. ``line`` is that of the first."""
    name, earlier = key_text(statement.path), key_text(first.path)
    if isinstance(first, Table):
        return _conflict_with_table(first, statement, line)
    if len(first.path) > len(statement.path):
        return SyntaxMessage(f"table [{name}] is already made by the dotted key {earlier} in line {line}", _DOTTED)
    if text.startswith("{", first.value_start) and first.path != statement.path:
        return SyntaxMessage(f"{name} adds to {earlier}, which line {line} writes in braces", _IN_BRACES)
    if isinstance(statement, Table) or first.path != statement.path:
        return SyntaxMessage(f"{earlier} is a table here and a plain value in line {line}", KEEP_ONE)
    return None


def _conflict_with_table(first: Table, statement: Statement, line: int) -> SyntaxMessage:
    name, earlier = key_text(statement.path), key_text(first.path)
    if isinstance(statement, Setting):
        if first.path == statement.path:
            return SyntaxMessage(f"{name} is a plain value here and a table in line {line}", KEEP_ONE)
        return SyntaxMessage(f"{name} belongs to the table [{earlier}], which line {line} declares", _BELOW_HEADER)
    if first.array != statement.array:
        return SyntaxMessage(f"{name} is a table and a list of tables, first in line {line}", KEEP_ONE)
    return SyntaxMessage(f"table [{name}] is declared twice, first in line {line}", _ONE_HEADER)
