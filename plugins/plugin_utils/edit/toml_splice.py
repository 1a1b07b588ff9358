# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes settings of a TOML text line by line, in the table they belong to; every other line stays."""

from __future__ import annotations

from collections.abc import Iterator

from .changes import REMOVE, Changes, Path, Tree, Wanted, applied, needed, tree
from .errors import UnsupportedEdit
from .lines import line_number
from .read import read_toml
from .splice import Envelope, Splice, proven, spliced
from .toml_inline import inline_table
from .toml_layout import Layout, Setting, Table
from .toml_place import added, blank_line_before
from .toml_value import quote_of, value_text


def edit_toml(text: str, changes: Changes) -> str:
    """The text with the values of ``changes`` (paths of keys; REMOVE deletes a key and a table that it emptied).

    A new setting follows the last one of its table; a new table follows the last one of its closest ancestor, with
    a blank line before it where the file has such, and goes with that line when REMOVE empties it.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read_toml(text)
    todo = needed(before, tree(changes))
    if not todo:
        return text
    envelope, body = Envelope.of(text)
    after = spliced(body, _table(Layout.of(body), (), todo))
    return proven(envelope.around(after), applied(before, todo), read_toml)


def _table(layout: Layout, path: Path, todo: Tree) -> Iterator[Splice]:
    late = _emptied_late_table(layout, path, todo)
    if late is not None:
        yield _table_removed(layout, late)
        return
    fresh: dict[str, Wanted] = {}
    below_here: list[Splice] = []
    for key, want in todo.items():
        below = (*path, key)
        setting = layout.by_path.get(below)
        if want is REMOVE:
            below_here += _removed(layout, below)
        elif isinstance(want, dict):
            below_here += _inside(layout, below, setting, want)
        elif setting is not None:
            below_here.append(_replaced(layout, setting, want))
        else:
            _refuse_table(layout, below)
            fresh[key] = want
    # Where both are new, a table stands before its sub-tables.
    if fresh:
        yield added(layout, path, fresh)
    yield from below_here


def _emptied_late_table(layout: Layout, path: Path, todo: Tree) -> Table | None:
    """The table at ``path`` if it loses all its settings and its header stands behind those of its sub-tables.

    So one is written for a table that only they implied, and so it can go again.
    """
    table = layout.headers.get(path)
    if table is None or all(each.start >= table.start for each in layout.below(path)):
        return None
    content = {each.path for each in layout.content(table)}
    removed = {(*path, key) for key, want in todo.items() if want is REMOVE}
    return table if len(removed) == len(todo) and content == removed else None


def _inside(layout: Layout, path: Path, setting: Setting | None, todo: Tree) -> Iterator[Splice]:
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


def _replaced(layout: Layout, setting: Setting, want: Wanted) -> Splice:
    old = layout.text[setting.value_start : setting.value_end]
    if old.startswith("{"):
        raise _unsupported(layout.text, setting.key_start, setting.path, "holds a table", "Correct or delete this key")
    return Splice(setting.value_start, setting.value_end, value_text(want, quote_of(old)))


def _removed(layout: Layout, path: Path) -> Iterator[Splice]:
    for setting in _settings_below(layout, path):
        yield Splice(setting.start, setting.end, "")
    for table in layout.below(path):
        yield _table_removed(layout, table)


def _table_removed(layout: Layout, table: Table) -> Splice:
    return Splice(blank_line_before(layout.text, table.start), layout.content_end(table), "")


def _settings_below(layout: Layout, path: Path) -> list[Setting]:
    """The setting at ``path``, or those that make it a table by dotted keys; not those of a [table] there."""
    return [
        setting
        for key, setting in layout.by_path.items()
        if key[: len(path)] == path and len(setting.table.path) < len(path)
    ]


def _refuse_table(layout: Layout, path: Path) -> None:
    tables = [table.start for table in layout.below(path)]
    for start in tables + [setting.start for setting in _settings_below(layout, path)]:
        raise _unsupported(layout.text, start, path, "is a table, not a plain value", "Name a setting in it")


def _unsupported(text: str, position: int, path: Path, what: str, remedy: str) -> UnsupportedEdit:
    return UnsupportedEdit(f"{path[-1]} {what}", line_number(text, position), remedy)
