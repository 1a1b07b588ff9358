# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The YAML shapes that no splice touches, each with its line and what to do about it."""

from __future__ import annotations

from .changes import Append, Dropped, Edit, Removal, Todo
from .errors import UnsupportedEdit
from .lines import NEWLINE, line_number, line_start
from .yaml_nodes import COLON, MERGE, Entry, Kind, Node
from .yaml_plain import resolved

_MARKS = ("&", "*", "!")


def is_null(node: Node) -> bool:
    """Whether a value is absent, `~` or `null`."""
    return node.kind is Kind.SCALAR and not node.style and resolved(node.text) is None


def is_marked(text: str, node: Node) -> bool:
    """Whether an anchor, alias or tag makes the value more than what is written."""
    return node.alias or text.startswith(_MARKS, node.start)


def refuse_root(text: str, root: Node) -> None:
    """UnsupportedEdit unless keys can be added to the document."""
    if root.kind is not Kind.MAPPING or text[root.start] in _MARKS:
        raise UnsupportedEdit(
            "the document is an explicit null, or has an anchor or tag",
            line_number(text, root.start),
            "Leave the mapping of keys alone in the document",
        )


def refuse_mapping(text: str, node: Node) -> None:
    """UnsupportedEdit for a mapping whose content comes from, or goes, elsewhere."""
    for entry in node.entries:
        if entry.key == MERGE:
            line = line_number(text, entry.key_start)
            raise UnsupportedEdit("a merge key (<<) adds to this mapping", line, "Write the merged keys out")
    if not node.flow:
        return
    if NEWLINE in text[node.start : node.end]:
        raise UnsupportedEdit(
            "a mapping in braces goes on for several lines (is the file JSON?)",
            line_number(text, node.start),
            "Write it on one line, or one key a line without braces",
        )
    if any(entry.node.alias for entry in node.entries):
        raise UnsupportedEdit("a YAML alias stands in these braces", line_number(text, node.start), "Write it out")


def refuse_entry(text: str, entry: Entry, want: Todo | Edit) -> None:
    """UnsupportedEdit when the value is marked, or is no mapping where one is needed, or the other way round."""
    node = entry.node
    line = line_number(text, entry.key_start)
    if is_marked(text, node):
        raise UnsupportedEdit(f"{entry.key} holds a YAML anchor, alias or tag", line, "Write its value out plainly")
    if isinstance(want, dict):
        if node.kind is not Kind.MAPPING and not is_null(node):
            raise UnsupportedEdit(f"{entry.key} is not a mapping", line, "Correct or delete this key")
    elif isinstance(want, (Append, Dropped)):
        if node.kind is not Kind.SEQUENCE:
            raise UnsupportedEdit(f"{entry.key} is not a list", line, "Correct or delete this key")
        if isinstance(want, Dropped):
            _refuse_item(text, entry, want)
    elif not isinstance(want, Removal) and node.kind is Kind.MAPPING:
        raise UnsupportedEdit(f"{entry.key} holds a mapping, not a plain value", line, "Delete or correct this key")


def colon_end(text: str, entry: Entry) -> int:
    """Index behind the colon of a key; UnsupportedEdit unless both stand in one line that the key begins."""
    colon = COLON.match(text, entry.key_end)
    if text[line_start(text, entry.key_start) : entry.key_start].strip() or colon is None:
        line = line_number(text, entry.key_start)
        raise UnsupportedEdit(f"{entry.key} does not begin its line", line, "Write it as a plain 'key: value' line")
    return colon.end()


def _refuse_item(text: str, entry: Entry, want: Dropped) -> None:
    line = line_number(text, entry.key_start)
    if len(want.places) != 1:
        raise UnsupportedEdit(f"{entry.key} holds an item twice", line, "Keep one of the two")
    item = entry.node.items[want.places[0]]
    if is_marked(text, item) or item.start == item.end:
        line = line_number(text, item.start)
        raise UnsupportedEdit(f"an item of {entry.key} is not written plainly", line, "Write it out, or take it out")
