# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes and removes settings of a TOML text line by line, in the table they belong to; every other line stays."""

from __future__ import annotations

from collections.abc import Iterator

from .document_changes import (
    REMOVE,
    AppendItem,
    Changes,
    Edit,
    EmptiedMapping,
    ItemRemoval,
    Path,
    PendingEdits,
    Removal,
    apply_edits,
    missing_edits,
    prune_emptied,
    to_tree,
)
from .readers import read_toml
from .splice import NEWLINE, Envelope, Splice, apply_splices, line_number, require_document
from .text_errors import UnsupportedEdit
from .toml_layout import Layout, Setting, Table, end_of_table, insertion_splice
from .toml_value import array_splices, inline_table, key_at, quote_of, value_text


def emptied_table(layout: Layout, path: Path) -> EmptiedMapping:
    """The fate of the table at ``path``.

    Braces behind a key, a header without settings of its own, and comments are not written by us: who wrote them,
    wanted the table.
    """
    if path in layout.by_path:
        return EmptiedMapping.STAYS
    table = layout.headers.get(path)
    if table is None:
        return EmptiedMapping.GOES
    return EmptiedMapping.STAYS if _has_comments(layout, table) or not layout.content(table) else EmptiedMapping.GOES


def emptied_late_table(layout: Layout, path: Path, todo: PendingEdits) -> Table | None:
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


def removal_splices(layout: Layout, path: Path) -> Iterator[Splice]:
    """The setting or the table at ``path`` gone, with all tables below it."""
    for setting in settings_below(layout, path):
        yield Splice(setting.start, setting.end, "")
    for table in layout.below(path):
        yield table_removal(layout, table)


def table_removal(layout: Layout, table: Table) -> Splice:
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


def edit_toml(text: str, changes: Changes) -> str:
    """The text with the wishes of ``changes`` (by paths of keys) fulfilled.

    A new setting follows the last one of its table; a new table follows the last one of its closest ancestor, with
    a blank line before it where the file has such.
    REMOVE takes a setting out, and the table that it was the last setting of, with the blank line before it; braces,
    a table with comments in it and a header that only sub-tables follow stay.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read_toml(text)
    todo = missing_edits(before, to_tree(changes))
    if not todo:
        return text
    envelope, body = Envelope.of(text)
    layout = Layout.of(body)
    todo = prune_emptied(before, todo, lambda path: emptied_table(layout, path))
    after = apply_splices(body, _table(layout, (), todo))
    return require_document(envelope.around(after), apply_edits(before, todo), read_toml)


def _table(layout: Layout, path: Path, todo: PendingEdits) -> Iterator[Splice]:
    late = emptied_late_table(layout, path, todo)
    if late is not None:
        yield table_removal(layout, late)
        return
    fresh: dict[str, Edit] = {}
    below_here: list[Splice] = []
    for key, want in todo.items():
        below = (*path, key)
        setting = layout.by_path.get(below)
        if isinstance(want, Removal):
            below_here += removal_splices(layout, below)
        elif isinstance(want, dict):
            below_here += _inside(layout, below, setting, want)
        elif setting is not None:
            below_here += _replacement(layout, setting, want)
        else:
            _refuse_table(layout, below)
            fresh[key] = want
    # Where both are new, a table stands before its sub-tables.
    if fresh:
        yield insertion_splice(layout, path, fresh)
    yield from below_here


def _inside(layout: Layout, path: Path, setting: Setting | None, todo: PendingEdits) -> Iterator[Splice]:
    text = layout.text
    if setting is None:
        for table in layout.below(path):
            if table.array and table.path == path:
                raise _unsupported(text, table.start, path, "is an array of tables", "Change its elements by hand")
        yield from _table(layout, path, todo)
    elif text[setting.value_start] == "{":
        inline = inline_table(text, setting.value_start, setting.value_end, todo)
        yield Splice(setting.value_start, setting.value_end, inline)
    else:
        raise _unsupported(text, setting.key_start, path, "is not a table", "Correct or delete this key")


def _replacement(layout: Layout, setting: Setting, want: Edit) -> Iterator[Splice]:
    text, start, end = layout.text, setting.value_start, setting.value_end
    if text[start] == "{":
        raise _unsupported(text, setting.key_start, setting.path, "holds a table", "Correct or delete this key")
    if isinstance(want, (AppendItem, ItemRemoval)):
        yield from array_splices(text, start, end, setting.path[-1], want)
    else:
        yield Splice(start, end, value_text(want, quote_of(text[start:end])))


def _refuse_table(layout: Layout, path: Path) -> None:
    tables = [table.start for table in layout.below(path)]
    for start in tables + [setting.start for setting in settings_below(layout, path)]:
        raise _unsupported(layout.text, start, path, "is a table, not a plain value", "Name a setting in it")


def _unsupported(text: str, position: int, path: Path, what: str, remedy: str) -> UnsupportedEdit:
    return UnsupportedEdit(f"{path[-1]} {what}", line_number(text, position), remedy)
