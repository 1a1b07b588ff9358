# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change values of a JSON text; all bytes except changed values, new members and their commas stay.

New members get the layout of the file: on one line or on several, with its indentation and spacing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .document_changes import (
    AppendItem,
    Changes,
    Edit,
    EmptiedMapping,
    Item,
    ItemRemoval,
    Path,
    PendingEdits,
    Removal,
    Scalar,
    apply_edits,
    missing_edits,
    prune_emptied,
    to_tree,
)
from .json_syntax import parse_json_nodes, read_json
from .splice import BOM, NEWLINE, Splice, apply_splices, line_end_style, line_start, require_document
from .text_errors import UnsupportedEdit
from .yaml_splice import refuse_entry
from .yaml_syntax import Entry, Kind, Node, quote

_STEP = "  "


def spans(node: Node) -> tuple[tuple[int, int], ...]:
    """The ranges of the members of an object or array, each key with its value."""
    if node.kind is Kind.MAPPING:
        return tuple((entry.key_start, entry.node.end) for entry in node.entries)
    return tuple((item.start, item.end) for item in node.items)


def indentation(text: str, position: int) -> str:
    """The whitespace at the beginning of the line of a position."""
    line = text[line_start(text, position) : position].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def has_lines(text: str, node: Node) -> bool:
    """Whether a member is on another line than the bracket or the member before it."""
    members = spans(node)
    reached = (node.start, *(end for _start, end in members))
    following = (*(start for start, _end in members), node.end)
    gaps = tuple(zip(reached, following, strict=True))
    return any(NEWLINE in text[start:end] for start, end in (gaps[:-1] if members else gaps))


@dataclass(frozen=True)
class Layout:
    """``colon`` and ``comma`` with their spaces; ``step`` and ``end`` of a line for collections on several lines.

    ``lines``: the kinds of collection that are written on several lines.
    """

    colon: str
    comma: str
    step: str
    end: str
    lines: frozenset[Kind]

    @classmethod
    def of(cls, text: str, root: Node) -> Layout:
        """The layout of the first key, the first nested object and the first array; else that of the document."""
        colon = text[root.entries[0].key_end : root.entries[0].node.start] if root.entries else ": "
        colon = ": " if NEWLINE in colon else colon
        kinds = (kind for kind in (Kind.MAPPING, Kind.SEQUENCE) if _is_on_lines(text, root, kind))
        end = line_end_style(text, root.end)
        return cls(colon, "," if colon == ":" else ", ", _step(text, root), end, frozenset(kinds))

    def like(self, text: str, node: Node) -> Layout:
        """This layout with collections of the node's kind written like the node; unchanged for `[]` and `{}`."""
        if not spans(node) and not has_lines(text, node):
            return self
        kind = frozenset((node.kind,))
        return replace(self, lines=self.lines | kind if has_lines(text, node) else self.lines - kind)

    def member(self, key: str, edit: PendingEdits | Edit | Item, indent: str) -> str:
        """A key with its value, in a line that begins with ``indent``."""
        return f"{quote(key)}{self.colon}{self.value(edit, indent)}"

    def value(self, edit: PendingEdits | Edit | Item, indent: str) -> str:
        """A value, in a line that begins with ``indent``."""
        if isinstance(edit, (Removal, AppendItem, ItemRemoval)):
            raise TypeError("a removal, or a change of a list, has no text")
        if isinstance(edit, Mapping):
            inner = self.inner(Kind.MAPPING, indent)
            members = [self.member(key, below, inner) for key, below in edit.items()]
            return "{" + self.joined(Kind.MAPPING, members, indent) + "}"
        if isinstance(edit, (str, bool, int, float)):
            return _scalar(edit)
        items = [self.value(item, self.inner(Kind.SEQUENCE, indent)) for item in edit]
        return "[" + self.joined(Kind.SEQUENCE, items, indent) + "]"

    def inner(self, kind: Kind, indent: str) -> str:
        """The indentation of the members of a collection of this kind."""
        return indent + self.step if kind in self.lines else indent

    def joined(self, kind: Kind, members: Sequence[str], indent: str) -> str:
        """The text between the brackets."""
        if kind not in self.lines or not members:
            return self.comma.join(members)
        begin = self.end + indent + self.step
        return begin + f",{begin}".join(members) + self.end + indent


def _scalar(value: Scalar) -> str:
    if isinstance(value, str):
        return quote(value)
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        raise UnsupportedEdit("JSON has neither NaN nor infinity", None, "Choose a finite number") from None


def _collections(node: Node) -> Iterator[Node]:
    """All objects and arrays that are not empty, the document first."""
    if spans(node):
        yield node
    for below in (*(entry.node for entry in node.entries), *node.items):
        if below.kind is not Kind.SCALAR:
            yield from _collections(below)


def _is_on_lines(text: str, root: Node, kind: Kind) -> bool:
    nested = (node for node in _collections(root) if node.kind is kind and node is not root)
    return has_lines(text, next(nested, root))


def _step(text: str, root: Node) -> str:
    for node in _collections(root):
        first = spans(node)[0][0]
        inner, outer = indentation(text, first), indentation(text, node.start)
        begins_line = text[line_start(text, first) : first] == inner
        if begins_line and inner.startswith(outer) and inner != outer:
            return inner[len(outer) :]
    return _STEP


def edit_json(text: str, changes: Changes, read: Callable[[str], dict[str, Any]] = read_json) -> str:
    """The text with ``changes`` (by paths of keys) applied; ``read`` may explain errors better.

    A new member follows the last one of its object or array, in the layout of the existing members. REMOVE deletes a
    key, and its object if that becomes empty.
    Raises ParseError, UnsupportedEdit or EditError. Returns the same text if all values are as desired.
    """
    before = read(text)
    todo = missing_edits(before, to_tree(changes))
    if not todo:
        return text
    todo = prune_emptied(before, todo, _drop_emptied)
    root = parse_json_nodes(text)
    after = apply_splices(text, _object(text, Layout.of(text, root), root, todo))
    return require_document(after, apply_edits(before, todo), read)


def _drop_emptied(_path: Path) -> EmptiedMapping:
    return EmptiedMapping.DELETE


def _object(text: str, layout: Layout, node: Node, todo: PendingEdits) -> Iterator[Splice]:
    """The splices for ``todo`` in one object."""
    removed = set()
    for index, entry in enumerate(node.entries):
        edit = todo.get(entry.key)
        if isinstance(edit, Removal):
            removed.add(index)
        elif edit is not None:
            yield from _changed_entry(text, layout, entry, edit)
    known = {entry.key for entry in node.entries}
    indent = _inner_indentation(text, layout, node)
    fresh = [layout.member(key, edit, indent) for key, edit in todo.items() if key not in known]
    yield from _members(text, layout, node, removed, fresh)


def _changed_entry(text: str, layout: Layout, entry: Entry, edit: PendingEdits | Edit) -> Iterator[Splice]:
    refuse_entry(text, entry, edit)
    node = entry.node
    indent = indentation(text, entry.key_start)
    if isinstance(edit, AppendItem):
        item = layout.value(edit.item, _inner_indentation(text, layout, node))
        yield from _members(text, layout, node, set(), [item])
    elif isinstance(edit, ItemRemoval):
        yield from _members(text, layout, node, set(edit.places), [])
    elif isinstance(edit, dict) and node.kind is Kind.MAPPING:
        yield from _object(text, layout, node, edit)
    else:
        yield Splice(node.start, node.end, layout.like(text, node).value(edit, indent))


def _members(text: str, layout: Layout, node: Node, removed: set[int], fresh: Sequence[str]) -> Iterator[Splice]:
    """Remove members of an object or array, and add new ones behind its last."""
    members = spans(node)
    if not members:
        if fresh:
            yield Splice(node.start, node.end, _filled_collection(text, layout, node, fresh))
        return
    separator = _separator(text, layout, node)
    if fresh and len(removed) == len(members):
        yield Splice(members[0][0], members[-1][1], separator.join(fresh))
        return
    yield from _removed_members(text, node, removed)
    if fresh:
        yield Splice(members[-1][1], members[-1][1], "".join(separator + member for member in fresh))


def _removed_members(text: str, node: Node, removed: set[int]) -> Iterator[Splice]:
    """Remove members, each with the comma before it; those at the beginning with the commas behind them."""
    members = spans(node)
    remaining = [index for index in range(len(members)) if index not in removed]
    if removed and not remaining:
        yield Splice(node.start, node.end, text[node.start] + text[node.end - 1])
    elif removed:
        if remaining[0]:
            yield Splice(members[0][0], _end_of_first(text, members, remaining[0]), "")
        for index in sorted(removed):
            if index > remaining[0]:
                yield Splice(members[index - 1][1], members[index][1], "")


def _end_of_first(text: str, members: Sequence[tuple[int, int]], following: int) -> int:
    """The end of removed first members: the start of the ``following`` one, or of the line end before it.

    The line end stays if other text is before the members, so that the next line is not joined to it.
    """
    start, (_start, end), (after, _end) = members[0][0], members[following - 1], members[following]
    line_end = text.find(NEWLINE, text.index(",", end, after), after)
    starts_line = not text[line_start(text, start) : start].strip()
    if starts_line or line_end < 0:
        return after
    return line_end - text[:line_end].endswith("\r")


def _filled_collection(text: str, layout: Layout, node: Node, fresh: Sequence[str]) -> str:
    """The text of an empty collection after it gets its first members."""
    own = layout.like(text, node)
    inside = "" if node.kind in own.lines else text[node.start + 1 : node.end - 1]
    members = own.joined(node.kind, fresh, indentation(text, node.start))
    return f"{text[node.start]}{inside}{members}{inside}{text[node.end - 1]}"


def _inner_indentation(text: str, layout: Layout, node: Node) -> str:
    """The indentation of the line of a new member."""
    members = spans(node)
    if members:
        return indentation(text, members[-1][0])
    return layout.like(text, node).inner(node.kind, indentation(text, node.start))


def _separator(text: str, layout: Layout, node: Node) -> str:
    """The text between the last member and a new one: as between the last two, without empty lines."""
    members = spans(node)
    if len(members) > 1:
        before, _comma, behind = text[members[-2][1] : members[-1][0]].partition(",")
    else:
        before, behind = "", text[node.start + 1 : members[0][0]]
        if NEWLINE not in behind:
            return layout.comma
    return f"{_one_line(layout, before)},{_one_line(layout, behind)}"


def _one_line(layout: Layout, whitespace: str) -> str:
    """Whitespace with at most one line end in it."""
    _before, newline, indent = whitespace.rpartition(NEWLINE)
    return layout.end + indent if newline else whitespace
