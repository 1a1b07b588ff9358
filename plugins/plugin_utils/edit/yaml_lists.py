# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit YAML lists, in brackets or with a dash for each item; comments of items that stay or change are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .bracket_list import Array, NewItem, append_to_array, remove_from_array, rewrite_array
from .document_changes import REMOVE, AppendItem, Item, ItemRemoval, PendingEdits, differing_path
from .list_match import match_items
from .readers import resolve_plain
from .splice import Splice, apply_splices, line_end, line_end_style, line_number, line_start
from .text_errors import UnsupportedEdit
from .yaml_syntax import Kind, Node, Style, column, end_of_block, value_text

ListEdit = AppendItem | ItemRemoval
EditMapping = Callable[[Style, Node, PendingEdits], Iterator[Splice]]
"""The splices for edits in one mapping of the text."""

_DASH = re.compile(r"([ \t]*)-[ \t]+")
_COMMENT = re.compile(r"( *)#")
_MARKS = ("&", "*", "!")


def is_marked(text: str, node: Node) -> bool:
    """Whether the value has an anchor, alias or tag."""
    return node.alias or text.startswith(_MARKS, node.start)


def bracket_list_splices(text: str, node: Node, edit: ListEdit | Sequence[Item]) -> Iterator[Splice]:
    """Edit a list in brackets, or replace its items."""
    array = Array(text, node.start, node.end, tuple((item.start, item.end) for item in node.items))
    if isinstance(edit, AppendItem):
        yield from append_to_array(array, value_text(edit.item))
    elif isinstance(edit, ItemRemoval):
        yield from remove_from_array(array, edit.places[0])
    else:
        old_values = [_value(text, item) for item in node.items]
        sources = (
            NewItem(_source(text, node, old_values, value, old), old)
            for value, old in zip(edit, match_items(old_values, edit), strict=True)
        )
        yield from rewrite_array(array, tuple(sources))


def _source(text: str, node: Node, old_values: Sequence[Any], value: Item, old: int | None) -> str:
    """The text of an item in brackets: as written if the value stays."""
    if old is None:
        return value_text(value)
    written = text[node.items[old].start : node.items[old].end]
    return written if differing_path(old_values[old], value) is None else value_text(value, written)


def block_list_splices(style: Style, node: Node, colon: int, edit: ListEdit) -> Iterator[Splice]:
    """Add or remove an item of a block list; an emptied list becomes `[]`."""
    text = style.text
    if isinstance(edit, AppendItem):
        at = line_end(text, node.end)
        yield Splice(at, at, style.dashes([edit.item], column(text, node), line_end_style(text, at)))
        return
    item = node.items[edit.places[0]]
    dash_column(text, item)
    if len(node.items) == 1:
        yield Splice(colon, colon, " []")
    yield Splice(line_start(text, item.start), line_end(text, item.end), "")


def replaced_block_list(style: Style, node: Node, values: Sequence[Item], edit_mapping: EditMapping) -> Splice:
    """Replace the items of a block list by others, at least one. Comments above the first item stay there."""
    text = style.text
    ranges = [item_lines(text, item) for item in node.items]
    begin, end = line_start(text, node.items[0].start), ranges[-1][1]
    starts = [begin, *(start for start, _end in ranges[1:]), end]
    old_values = [_value(text, item) for item in node.items]
    indent, newline = column(text, node), line_end_style(text, begin)
    lines = ""
    for value, old in zip(values, match_items(old_values, values), strict=True):
        if old is None:
            lines += style.dashes([value], indent, newline)
        elif differing_path(old_values[old], value) is None:
            lines += text[starts[old] : starts[old + 1]]
        else:
            block = (starts[old], starts[old + 1])
            lines += _changed_block(style, node.items[old], block, old_values[old], value, edit_mapping)
    return Splice(begin, end, lines)


def _changed_block(
    style: Style, item: Node, block: tuple[int, int], before: Any, value: Item, edit_mapping: EditMapping
) -> str:
    """The lines of an item with another value and the same comments."""
    text, (begin, end) = style.text, block
    if isinstance(before, Mapping) and isinstance(value, Mapping):
        try:
            after = apply_splices(text, edit_mapping(style, item, _mapping_edits(before, value)))
            return after[begin : end + len(after) - len(text)]
        except UnsupportedEdit:
            pass  # The key on the line of the dash changes: the item is written again.
    elif (item.kind is Kind.SCALAR and not item.style) or item.style in ("'", '"'):
        written = text[item.start : item.end]
        return text[begin : item.start] + value_text(value, written) + text[item.end : end]
    dash = line_start(text, item.start)
    return text[begin:dash] + style.dashes([value], dash_column(text, item), line_end_style(text, dash))


def _mapping_edits(before: Mapping[str, Any], after: Mapping[str, Item]) -> PendingEdits:
    """The edits that make one mapping of another one."""
    edits: PendingEdits = {key: REMOVE for key in before if key not in after}
    for key, value in after.items():
        current = before.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping) and current:
            below = _mapping_edits(current, value)
            edits.update({key: below} if below else {})
        elif key not in before or differing_path(current, value) is not None:
            edits[key] = _new_edits(value) if isinstance(value, Mapping) else value
    return edits


def _new_edits(mapping: Mapping[str, Item]) -> PendingEdits:
    return {key: _new_edits(value) if isinstance(value, Mapping) else value for key, value in mapping.items()}


def _value(text: str, node: Node) -> Any:
    """The value of a node; for one with an anchor, alias or tag a value that equals no other."""
    if is_marked(text, node):
        return object()
    if node.kind is Kind.MAPPING:
        return {entry.key: _value(text, entry.node) for entry in node.entries}
    if node.kind is Kind.SEQUENCE:
        return [_value(text, item) for item in node.items]
    return node.text if node.style else resolve_plain(node.text)


def dash_column(text: str, item: Node) -> int:
    """The column of an item's dash; UnsupportedEdit unless the item begins on the line of its dash."""
    dash = _DASH.match(text, line_start(text, item.start))
    if dash is None or dash.end() != item.start:
        line = line_number(text, item.start)
        raise UnsupportedEdit("a list item does not follow its own dash", line, "Write it as a plain '- item' line")
    return len(dash[1])


def item_lines(text: str, item: Node) -> tuple[int, int]:
    """[begin, end) of an item's lines, with the comments right above its dash, and deeper ones below the item."""
    indent = dash_column(text, item)
    begin = line_start(text, item.start)
    while begin:
        above = line_start(text, begin - 1)
        comment = _COMMENT.match(text, above)
        if comment is None or len(comment[1]) != indent:
            break
        begin = above
    return begin, max(end_of_block(text, item, indent), line_end(text, item.end))
