# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of the tables and settings of a valid TOML text, and the position of a new one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .document_changes import Edit, Path
from .splice import BOM, Splice, line_end, line_end_style, line_number, line_start
from .toml_value import key_at, key_text, quote_of, value_end, value_text

_WHITESPACE = re.compile(r"[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")


@dataclass(frozen=True)
class Table:
    """A header line, text[start:end]; the root table, which has no header, is (), 0, 0.

    ``listed``: the table is an element of an array of tables, or below one; a path of keys cannot name it.
    """

    path: Path
    start: int
    end: int
    array: bool = False
    listed: bool = False


@dataclass(frozen=True)
class Setting:
    """`key = value`; ``path`` is absolute, text[start:end] its lines."""

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
    """Tables (the root first) and settings in the order of the text, whose last line has a line end."""

    text: str
    tables: tuple[Table, ...]
    settings: tuple[Setting, ...]

    @classmethod
    def of(cls, text: str) -> Layout:
        parts = tuple(scan(text))
        tables = tuple(part for part in parts if isinstance(part, Table))
        return cls(text, tables, tuple(part for part in parts if isinstance(part, Setting)))

    @cached_property
    def by_path(self) -> dict[Path, Setting]:
        """The settings that a path of keys can name."""
        return {setting.path: setting for setting in self.settings if not setting.table.listed}

    @cached_property
    def headers(self) -> dict[Path, Table]:
        """The root, and the tables with a header that a path of keys can name."""
        return {table.path: table for table in self.tables if not table.listed}

    def below(self, path: Path) -> list[Table]:
        """The tables with this path or one that begins with it, elements of arrays included."""
        return [table for table in self.tables if table.path[: len(path)] == path]

    def content(self, table: Table) -> list[Setting]:
        """The settings between a header and the next."""
        return [setting for setting in self.settings if setting.table is table]

    def content_end(self, table: Table) -> int:
        """Index behind the last line of a table that is neither empty nor a comment."""
        return max([table.end, *(setting.end for setting in self.content(table))])


def indent(text: str, start: int) -> str:
    """The whitespace at the beginning of a line."""
    match = _WHITESPACE.match(text, start)
    return match[0] if match else ""


def scan(text: str) -> Iterator[Table | Setting]:
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


def key_line(text: str, path: Path) -> int:
    """The line of the key, else of the first key below it, else of the table around it; in any letter case."""
    body = text.removeprefix(BOM)
    layout = Layout.of(body)
    starts = [(_plain(table.path), table.start) for table in layout.tables]
    starts += [(_plain(setting.path), setting.key_start) for setting in layout.settings]
    own = dict(reversed(starts))
    below: dict[Path, int] = {}
    for key, start in starts:
        for length in range(1, len(key)):
            below[key[:length]] = min(start, below.get(key[:length], start))
    places = {**below, **own}
    target = _plain(path)
    known = next(target[:length] for length in range(len(target), -1, -1) if target[:length] in places)
    return line_number(body, places[known])


def _plain(path: Path) -> Path:
    return tuple(key.casefold() for key in path)


_KEYS_FIRST, _TABLES_LAST = 0, 1
_COMMENTS = re.compile(r"(?:[ \t]*#[^\n]*\n)*")


def insertion_splice(layout: Layout, path: Path, fresh: dict[str, Edit]) -> Splice:
    """Add settings to the table at ``path``; a missing table is added."""
    table = layout.headers.get(path)
    if table is not None:
        return _in_table(layout, table, fresh)
    neighbour = _dotted_neighbour(layout, path)
    if neighbour is not None:
        return _beside(layout, neighbour, path[len(neighbour.table.path) :], fresh)
    return _new_table(layout, path, fresh)


def _in_table(layout: Layout, table: Table, fresh: dict[str, Edit]) -> Splice:
    """Insert behind the last setting, before sub-tables and before comments and blank lines at the end of the table."""
    content = layout.content(table)
    if content:
        return _beside(layout, content[-1], (), fresh)
    at = table.end or _top(layout)
    margin = indent(layout.text, table.start) + _setting_step(layout, table) if table.path else ""
    quote = quote_of(layout.text[table.start : table.end])
    return Splice(at, at, _settings(fresh, margin, (), " = ", quote, line_end_style(layout.text, at)), _KEYS_FIRST)


def _beside(layout: Layout, neighbour: Setting, prefix: Path, fresh: dict[str, Edit]) -> Splice:
    text = layout.text
    equals = text[neighbour.key_end : neighbour.value_start]
    quote = quote_of(text[neighbour.start : neighbour.end])
    at = neighbour.end
    lines = _settings(
        fresh,
        indent(text, neighbour.start),
        prefix,
        equals if equals == "=" else " = ",
        quote,
        line_end_style(text, at),
    )
    return Splice(at, at, lines, _KEYS_FIRST)


def _settings(fresh: dict[str, Edit], margin: str, prefix: Path, equals: str, quote: str, end: str) -> str:
    return "".join(
        f"{margin}{key_text((*prefix, key), quote)}{equals}{value_text(value, quote)}{end}"
        for key, value in fresh.items()
    )


def _top(layout: Layout) -> int:
    """The position of the first setting of the root: behind the comment at the start of the file, or at the start."""
    text = layout.text
    if len(layout.tables) == 1:
        return _end_of_text(text)
    opening = _COMMENTS.match(text)
    at = opening.end() if opening else 0
    # A comment right above the first header belongs to that table.
    return at if not text[at : line_end(text, at)].strip() else 0


def _end_of_text(text: str) -> int:
    content = text.rstrip()
    return line_end(text, len(content)) if content else 0


def _dotted_neighbour(layout: Layout, path: Path) -> Setting | None:
    """The last setting that defines ``path`` or the table around it by a dotted key: TOML forbids a header then."""
    for length in range(len(path), 0, -1):
        outer = path[:length]
        inside = [setting for key, setting in layout.by_path.items() if key[:length] == outer]
        dotted = [setting for setting in inside if len(setting.table.path) < length]
        if dotted:
            return dotted[-1]
        if layout.below(outer):
            return None
    return None


def _new_table(layout: Layout, path: Path, fresh: dict[str, Edit]) -> Splice:
    """Insert behind the last table of the closest existing ancestor, so that no other table is split."""
    text = layout.text
    previous = _last_relative(layout, path)
    at = end_of_table(layout, previous)
    end = line_end_style(text, at)
    margin = _header_indent(layout, path)
    quote = quote_of(text[previous.start : previous.end])
    gap = end if at > 0 and _has_blank_lines_between(layout, previous) else ""
    step = _setting_step(layout, previous)
    lines = _settings(fresh, margin + step, (), " = ", quote, end)
    return Splice(at, at, f"{gap}{margin}[{key_text(path, quote)}]{end}{lines}", _TABLES_LAST)


def _last_relative(layout: Layout, path: Path) -> Table:
    lengths = range(len(path), -1, -1)
    return next(tables[-1] for tables in (layout.below(path[:length]) for length in lengths) if tables)


def end_of_table(layout: Layout, table: Table) -> int:
    """Index behind the last setting and the comments that follow it, except comments right above the next header."""
    text = layout.text
    at = layout.content_end(table)
    if at == 0:
        return _end_of_text(text)
    following = next((other.start for other in layout.tables if other.start >= at and other is not table), len(text))
    if following < len(text):
        following = _commented_start(text, following)
    between = text[at : max(at, following)]
    return at + line_end(between, len(between.rstrip())) if between.strip() else at


def _header_indent(layout: Layout, path: Path) -> str:
    """The indentation of a sibling, else that of the closest ancestor with a header plus one step for each level."""
    text = layout.text
    for table in layout.tables[1:]:
        if table.path[:-1] == path[:-1] and len(table.path) == len(path):
            return indent(text, table.start)
    ancestor = _ancestor(layout, path)
    if ancestor is None:
        return ""
    return indent(text, ancestor.start) + _table_step(layout) * (len(path) - len(ancestor.path))


def _ancestor(layout: Layout, path: Path) -> Table | None:
    lengths = range(len(path) - 1, 0, -1)
    return next((table for length in lengths if (table := layout.headers.get(path[:length]))), None)


def _table_step(layout: Layout) -> str:
    """The additional indentation of the first nested table, for each level."""
    for table in layout.tables[1:]:
        ancestor = _ancestor(layout, table.path)
        if ancestor is not None:
            more = indent(layout.text, table.start)[len(indent(layout.text, ancestor.start)) :]
            return more[: len(more) // (len(table.path) - len(ancestor.path))]
    return ""


def _setting_step(layout: Layout, near: Table) -> str:
    """The additional indentation of settings below their header: as in the last table before, else in the next one."""
    headed = [setting for setting in layout.settings if setting.table.path]
    before = [setting for setting in headed if setting.start < near.end] or headed[:1]
    if not before:
        return ""
    text, neighbour = layout.text, before[-1]
    return indent(text, neighbour.start)[len(indent(text, neighbour.table.start)) :]


def _has_blank_lines_between(layout: Layout, near: Table) -> bool:
    """Whether the file has a blank line before headers that follow a setting, nested ones first.

    A header right behind a header is ignored: containerd 2 writes no blank line there and one everywhere else.
    """
    text = layout.text
    for table in (near, *sorted(layout.tables, key=lambda other: -len(other.path))):
        start = _commented_start(text, table.start)
        before = text[line_start(text, start - 1) : start].strip() if start > 0 else "["
        if not before.startswith("["):
            return not before
    return True


def _commented_start(text: str, start: int) -> int:
    """Start of the comment lines right above the line at ``start``, or of that line."""
    while start > 0 and text[line_start(text, start - 1) : start].lstrip().startswith("#"):
        start = line_start(text, start - 1)
    return start
