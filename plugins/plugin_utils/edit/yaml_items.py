# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit items of nested YAML lists: set keys of a mapping, insert, move or remove an item; all other lines stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from .document_changes import Changes, Item, apply_edits, missing_edits, to_tree
from .readers import read_yaml
from .splice import Envelope, Splice, apply_splices, line_end_style, line_number, require_document
from .text_errors import EditError, UnsupportedEdit
from .yaml_lists import dash_column, is_marked, item_lines
from .yaml_splice import mapping_splices
from .yaml_syntax import Kind, Node, Style, parse_nodes

ItemPath: TypeAlias = "tuple[str | int, ...]"
"""The path of a value: keys of mappings and indexes of lists."""


def set_in_item(text: str, at: ItemPath, changes: Changes) -> str:
    """``edit_yaml`` on the mapping at ``at`` alone; the same text if all values are as desired."""
    opened = _Opened.of(text)
    part = value_at(opened.document, at)
    todo = missing_edits(part, to_tree(changes))
    if not todo:
        return text
    splices = mapping_splices(opened.style, opened.node(at), todo)
    return opened.closed(splices, replace_value(opened.document, at, apply_edits(part, todo)))


def insert_item(text: str, at: ItemPath, place: int, item: Item) -> str:
    """Insert an item at index ``place`` of the list at ``at``; EditError unless each item has a line with a dash."""
    opened = _Opened.of(text)
    node = opened.block_list(at)
    ranges = [item_lines(opened.body, existing) for existing in node.items]
    indent = dash_column(opened.body, node.items[0])
    position = ranges[place][0] if place < len(ranges) else ranges[-1][1]
    lines = opened.style.dashes([item], indent, line_end_style(opened.body, position))
    values = list(value_at(opened.document, at))
    values.insert(place, item)
    return opened.closed([Splice(position, position, lines)], replace_value(opened.document, at, values))


def move_item(text: str, origin: ItemPath, target: ItemPath) -> str:
    """Move the item at ``origin`` and its comments before the one at ``target``, in the same list or another."""
    opened = _Opened.of(text)
    (*source_list, source), (*target_list, place) = origin, target
    source_node, target_node = opened.block_list(tuple(source_list)), opened.block_list(tuple(target_list))
    moved, before = source_node.items[int(source)], target_node.items[int(place)]
    begin, end = item_lines(opened.body, moved)
    if len(source_node.items) == 1 or dash_column(opened.body, moved) != dash_column(opened.body, before):
        raise UnsupportedEdit(
            "an item that has to move is the only one of its list, or its new neighbours have another indentation",
            line_number(opened.body, moved.start),
            "Move it by hand",
        )
    position = item_lines(opened.body, before)[0]
    splices = [Splice(begin, end, ""), Splice(position, position, opened.body[begin:end])]
    value = value_at(opened.document, origin)
    after = _without(opened.document, origin)
    values = list(value_at(after, tuple(target_list)))
    same = source_list == target_list and int(source) < int(place)
    values.insert(int(place) - same, value)
    return opened.closed(splices, replace_value(after, tuple(target_list), values))


def remove_item(text: str, at: ItemPath) -> str:
    """Remove the item at ``at`` and its comments; EditError if it is the only one of its list."""
    opened = _Opened.of(text)
    (*listed, place) = at
    node = opened.block_list(tuple(listed))
    removed = node.items[int(place)]
    if len(node.items) == 1:
        line = line_number(opened.body, removed.start)
        raise UnsupportedEdit("an item that has to be removed is the only one of its list", line, "Remove it by hand")
    begin, end = item_lines(opened.body, removed)
    return opened.closed([Splice(begin, end, "")], _without(opened.document, at))


def value_at(document: Any, at: ItemPath) -> Any:
    """The value at a path; EditError if the document has no such path."""
    for step in at:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            raise EditError(f"it has no {render_path(at)}") from None
    return document


def replace_value(document: Any, at: ItemPath, value: Any) -> Any:
    """A copy of the document with another value at a path."""
    if not at:
        return value
    step, below = at[0], at[1:]
    copy: Any = list(document) if isinstance(document, list) else dict(document)
    copy[step] = replace_value(document[step], below, value)
    return copy


def render_path(at: ItemPath) -> str:
    """A path in the form that messages use: tiers[0].plugins."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at).lstrip(".")


def _without(document: Any, at: ItemPath) -> Any:
    values = list(value_at(document, at[:-1]))
    del values[int(at[-1])]
    return replace_value(document, at[:-1], values)


@dataclass(frozen=True)
class _Opened:
    """A text that is being edited."""

    envelope: Envelope
    body: str
    root: Node
    style: Style
    document: dict[str, Any]

    @classmethod
    def of(cls, text: str) -> _Opened:
        document = read_yaml(text)
        envelope, body = Envelope.of(text)
        root = parse_nodes(body)
        if root is None or root.kind is not Kind.MAPPING:
            raise EditError("it contains no document")
        return cls(envelope, body, root, Style.of(body, root), document)

    def closed(self, splices: Iterator[Splice] | list[Splice], expected: dict[str, Any]) -> str:
        return require_document(self.envelope.around(apply_splices(self.body, splices)), expected, read_yaml)

    def node(self, at: ItemPath) -> Node:
        value_at(self.document, at)
        node = self.root
        for step in at:
            node = self._below(node, step)
            if is_marked(self.body, node):
                line = line_number(self.body, node.start)
                raise UnsupportedEdit(f"{step} holds a YAML anchor, alias or tag", line, "Write its value out plainly")
        return node

    def _below(self, node: Node, step: str | int) -> Node:
        if isinstance(step, int):
            return node.items[step]
        values = [entry.node for entry in node.entries if entry.key == step]
        if not values:
            raise EditError(f"{step} comes from a YAML merge key", line_number(self.body, node.start), "Write it out")
        return values[-1]

    def block_list(self, at: ItemPath) -> Node:
        node = self.node(at)
        if node.kind is not Kind.SEQUENCE or node.flow or not node.items:
            line = line_number(self.body, node.start)
            raise UnsupportedEdit(
                f"{render_path(at)} is not a list with a line for each item", line, "Write '- item' lines"
            )
        return node
