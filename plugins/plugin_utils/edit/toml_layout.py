# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each table and each setting of a valid TOML text stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .changes import Path
from .lines import line_end
from .toml_value import key_at, value_end

_BLANK = re.compile(r"[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")


@dataclass(frozen=True)
class Table:
    """A header line, text[start:end]; the root table, which has none, is (), 0, 0.

    ``listed``: an element of an array of tables, or below one; no path of keys leads there.
    """

    path: Path
    start: int
    end: int
    array: bool = False
    listed: bool = False


@dataclass(frozen=True)
class Setting:
    """`key = value`; ``path`` is absolute, text[start:end] are its lines."""

    table: Table
    path: Path
    start: int
    end: int
    key_start: int
    key_end: int
    value_start: int
    value_end: int


@dataclass(frozen=True)
class Layout:
    """Tables (the root first) and settings in the order of the text, whose last line is ended."""

    text: str
    tables: tuple[Table, ...]
    settings: tuple[Setting, ...]

    @classmethod
    def of(cls, text: str) -> Layout:
        parts = tuple(_scan(text))
        tables = tuple(part for part in parts if isinstance(part, Table))
        return cls(text, tables, tuple(part for part in parts if isinstance(part, Setting)))

    @cached_property
    def by_path(self) -> dict[Path, Setting]:
        """The settings that a path of keys leads to."""
        return {each.path: each for each in self.settings if not each.table.listed}

    @cached_property
    def headers(self) -> dict[Path, Table]:
        """The tables with a header of their own that a path of keys leads to, and the root."""
        return {each.path: each for each in self.tables if not each.listed}

    def below(self, path: Path) -> list[Table]:
        """The tables with this path or one that begins with it, elements of arrays included."""
        return [each for each in self.tables if each.path[: len(path)] == path]

    def content(self, table: Table) -> list[Setting]:
        """The settings between a header and the next."""
        return [each for each in self.settings if each.table is table]

    def content_end(self, table: Table) -> int:
        """Index behind the last line of a table that is not blank or a comment."""
        return max([table.end, *(each.end for each in self.content(table))])


def indent(text: str, start: int) -> str:
    """The blanks that a line begins with."""
    match = _BLANK.match(text, start)
    return match[0] if match else ""


def _scan(text: str) -> Iterator[Table | Setting]:
    table = Table((), 0, 0)
    arrays: set[Path] = set()
    yield table
    start = 0
    while start < len(text):
        at = start + len(indent(text, start))
        end = line_end(text, at)
        if text.startswith("[", at):
            table = _table(text, start, at, arrays)
            yield table
        elif text[at : at + 1] not in ("#", "\r", "\n", ""):
            setting = _setting(text, start, at, table)
            yield setting
            end = setting.end
        start = end


def _table(text: str, start: int, at: int, arrays: set[Path]) -> Table:
    array = text.startswith("[[", at)
    name = at + (2 if array else 1)
    path, _end = key_at(text, name + len(indent(text, name)))
    if array:
        arrays.add(path)
    listed = any(path[:length] in arrays for length in range(1, len(path) + 1))
    return Table(path, start, line_end(text, at), array, listed)


def _setting(text: str, start: int, at: int, table: Table) -> Setting:
    key, key_end = key_at(text, at)
    equals = _EQUALS.match(text, key_end)
    value = equals.end() if equals else key_end
    end = value_end(text, value)
    return Setting(table, table.path + key, start, line_end(text, end), at, key_end, value, end)
