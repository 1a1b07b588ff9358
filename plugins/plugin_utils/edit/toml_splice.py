# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes settings of a TOML text line by line, in the table they belong to; every other line stays."""

from __future__ import annotations

from collections.abc import Iterator

from .changes import Append, Changes, Dropped, Edit, Path, Removal, Todo, tree
from .document import applied, needed, pruned
from .errors import UnsupportedEdit
from .lines import line_number
from .read import read_toml
from .splice import Envelope, Splice, proven, spliced
from .toml_inline import inline_table
from .toml_layout import Layout, Setting
from .toml_list import list_splices
from .toml_place import added
from .toml_removal import emptied, emptied_late_table, removed, settings_below, table_removed
from .toml_value import quote_of, value_text


def edit_toml(text: str, changes: Changes) -> str:
    """The text with the wishes of ``changes`` (by paths of keys) fulfilled.

    A new setting follows the last one of its table; a new table follows the last one of its closest ancestor, with
    a blank line before it where the file has such.
    REMOVE takes a setting out, and the table that it was the last setting of, with the blank line before it; braces,
    a table with comments in it and a header that only sub-tables follow stay.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read_toml(text)
    todo = needed(before, tree(changes))
    if not todo:
        return text
    envelope, body = Envelope.of(text)
    layout = Layout.of(body)
    todo = pruned(before, todo, lambda path: emptied(layout, path))
    after = spliced(body, _table(layout, (), todo))
    return proven(envelope.around(after), applied(before, todo), read_toml)


def _table(layout: Layout, path: Path, todo: Todo) -> Iterator[Splice]:
    late = emptied_late_table(layout, path, todo)
    if late is not None:
        yield table_removed(layout, late)
        return
    fresh: dict[str, Edit] = {}
    below_here: list[Splice] = []
    for key, want in todo.items():
        below = (*path, key)
        setting = layout.by_path.get(below)
        if isinstance(want, Removal):
            below_here += removed(layout, below)
        elif isinstance(want, dict):
            below_here += _inside(layout, below, setting, want)
        elif setting is not None:
            below_here += _replaced(layout, setting, want)
        else:
            _refuse_table(layout, below)
            fresh[key] = want
    # Where both are new, a table stands before its sub-tables.
    if fresh:
        yield added(layout, path, fresh)
    yield from below_here


def _inside(layout: Layout, path: Path, setting: Setting | None, todo: Todo) -> Iterator[Splice]:
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


def _replaced(layout: Layout, setting: Setting, want: Edit) -> Iterator[Splice]:
    text, start, end = layout.text, setting.value_start, setting.value_end
    if text[start] == "{":
        raise _unsupported(text, setting.key_start, setting.path, "holds a table", "Correct or delete this key")
    if isinstance(want, (Append, Dropped)):
        yield from list_splices(text, start, end, setting.path[-1], want)
    else:
        yield Splice(start, end, value_text(want, quote_of(text[start:end])))


def _refuse_table(layout: Layout, path: Path) -> None:
    tables = [table.start for table in layout.below(path)]
    for start in tables + [setting.start for setting in settings_below(layout, path)]:
        raise _unsupported(layout.text, start, path, "is a table, not a plain value", "Name a setting in it")


def _unsupported(text: str, position: int, path: Path, what: str, remedy: str) -> UnsupportedEdit:
    return UnsupportedEdit(f"{path[-1]} {what}", line_number(text, position), remedy)
