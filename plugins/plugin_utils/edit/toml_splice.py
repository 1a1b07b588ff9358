# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change and remove settings of a TOML text line by line, in the table that they belong to; other lines stay."""

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
    """What to do with the table at ``path`` once it is empty.

    The collection never writes braces behind a key, a header without settings, or comments: a table that has them is
    the user's and stays.
    """
    if path in layout.by_path:
        return EmptiedMapping.KEEP
    table = layout.headers.get(path)
    if table is None:
        return EmptiedMapping.DELETE
    return EmptiedMapping.KEEP if _has_comments(layout, table) or not layout.content(table) else EmptiedMapping.DELETE


def emptied_late_table(layout: Layout, path: Path, todo: PendingEdits) -> Table | None:
    """The table at ``path`` if it loses all its settings and its header is behind those of its sub-tables.

    Such a header is written for a table that only its sub-tables implied, so it can be deleted again.
    """
    table = layout.headers.get(path)
    if table is None or all(relative.start >= table.start for relative in layout.below(path)):
        return None
    content = {setting.path for setting in layout.content(table)}
    removed = {(*path, key) for key, value in todo.items() if value is REMOVE}
    is_emptied = len(removed) == len(todo) and content == removed
    return table if is_emptied and not _has_comments(layout, table) else None


def removal_splices(layout: Layout, path: Path) -> Iterator[Splice]:
    """Delete the setting or the table at ``path``, with all tables below it."""
    for setting in settings_below(layout, path):
        yield Splice(setting.start, setting.end, "")
    for table in layout.below(path):
        yield table_removal(layout, table)


def table_removal(layout: Layout, table: Table) -> Splice:
    """Delete a header, its settings, and the blank line before them."""
    return Splice(_blank_line_before(layout.text, table.start), layout.content_end(table), "")


def settings_below(layout: Layout, path: Path) -> list[Setting]:
    """The setting at ``path``, or those that make it a table by dotted keys; not those below a [table] header."""
    return [
        setting
        for key, setting in layout.by_path.items()
        if key[: len(path)] == path and len(setting.table.path) < len(path)
    ]


def _has_comments(layout: Layout, table: Table) -> bool:
    """Whether comments belong to the table itself, and not to one of its settings or to the next table."""
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
    """Start of the blank line before the line at ``start``; ``start`` itself if there is none."""
    previous = text.rfind(NEWLINE, 0, start - 1) + 1 if start > 0 else start
    return start if text[previous:start].strip() else previous


def edit_toml(text: str, changes: Changes) -> str:
    """The text with ``changes`` (by paths of keys) applied.

    A new setting follows the last one of its table; a new table follows the last one of its closest ancestor, with
    a blank line before it if the file has blank lines before headers.
    REMOVE deletes a setting, and its table if that becomes empty, with the blank line before it; braces, a table with
    comments in it and a header that only sub-tables follow stay.
    Raises ParseError, UnsupportedEdit or EditError. Returns the same text if all values are as desired.
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
    for key, edit in todo.items():
        below = (*path, key)
        setting = layout.by_path.get(below)
        if isinstance(edit, Removal):
            below_here += removal_splices(layout, below)
        elif isinstance(edit, dict):
            below_here += _inside(layout, below, setting, edit)
        elif setting is not None:
            below_here += _replacement(layout, setting, edit)
        else:
            _refuse_table(layout, below)
            fresh[key] = edit
    # If both are new, a table comes before its sub-tables.
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


def _replacement(layout: Layout, setting: Setting, edit: Edit) -> Iterator[Splice]:
    text, start, end = layout.text, setting.value_start, setting.value_end
    if text[start] == "{":
        raise _unsupported(text, setting.key_start, setting.path, "holds a table", "Correct or delete this key")
    if isinstance(edit, (AppendItem, ItemRemoval)) or (isinstance(edit, list) and text[start] == "["):
        yield from array_splices(text, start, end, setting.path[-1], edit)
    else:
        yield Splice(start, end, value_text(edit, quote_of(text[start:end])))


def _refuse_table(layout: Layout, path: Path) -> None:
    tables = [table.start for table in layout.below(path)]
    for start in tables + [setting.start for setting in settings_below(layout, path)]:
        raise _unsupported(layout.text, start, path, "is a table, not a plain value", "Name a setting in it")


def _unsupported(text: str, position: int, path: Path, what: str, remedy: str) -> UnsupportedEdit:
    return UnsupportedEdit(f"{path[-1]} {what}", line_number(text, position), remedy)
