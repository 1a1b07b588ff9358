# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking TOML settings out, and what becomes of the table around them when it has no setting left."""

from __future__ import annotations

from collections.abc import Iterator

from .changes import REMOVE, Path, Todo
from .document import Fate
from .lines import NEWLINE
from .splice import Splice
from .toml_layout import Layout, Setting, Table
from .toml_place import end_of_table
from .toml_value import key_at


def emptied(layout: Layout, path: Path) -> Fate:
    """The fate of the table at ``path``.

    Braces behind a key, a header without settings of its own, and comments are not written by us: who wrote them,
    wanted the table.
    """
    if path in layout.by_path:
        return Fate.STAYS
    table = layout.headers.get(path)
    if table is None:
        return Fate.GOES
    return Fate.STAYS if _has_comments(layout, table) or not layout.content(table) else Fate.GOES


def emptied_late_table(layout: Layout, path: Path, todo: Todo) -> Table | None:
    """The table at ``path`` if it loses all its settings and its header stands behind those of its sub-tables.

    So one is written for a table that only they implied, and so it can go again.
    """
    table = layout.headers.get(path)
    if table is None or all(each.start >= table.start for each in layout.below(path)):
        return None
    content = {each.path for each in layout.content(table)}
    gone = {(*path, key) for key, want in todo.items() if want is REMOVE}
    whole = len(gone) == len(todo) and content == gone
    return table if whole and not _has_comments(layout, table) else None


def removed(layout: Layout, path: Path) -> Iterator[Splice]:
    """The setting or the table at ``path`` gone, with all tables below it."""
    for setting in settings_below(layout, path):
        yield Splice(setting.start, setting.end, "")
    for table in layout.below(path):
        yield table_removed(layout, table)


def table_removed(layout: Layout, table: Table) -> Splice:
    """A header and its settings gone, and the blank line before them."""
    return Splice(_blank_line_before(layout.text, table.start), layout.content_end(table), "")


def settings_below(layout: Layout, path: Path) -> list[Setting]:
    """The setting at ``path``, or those that make it a table by dotted keys; not those of a [table] there."""
    return [
        setting
        for key, setting in layout.by_path.items()
        if key[: len(path)] == path and len(setting.table.path) < len(path)
    ]


def _has_comments(layout: Layout, table: Table) -> bool:
    """Whether comments belong to a table as such, and not to one of its settings or to the next table."""
    text = layout.text
    brackets = text.index("[", table.start) + (2 if table.array else 1)
    name = brackets + len(text[brackets:]) - len(text[brackets:].lstrip(" \t"))
    _path, reached = key_at(text, name)
    for setting in layout.content(table):
        if "#" in text[reached : setting.start]:
            return True
        reached = setting.end
    return "#" in text[reached : end_of_table(layout, table)]


def _blank_line_before(text: str, start: int) -> int:
    """Start of the blank line before the line at ``start``; ``start`` itself when there is none."""
    previous = text.rfind(NEWLINE, 0, start - 1) + 1 if start > 0 else start
    return start if text[previous:start].strip() else previous
