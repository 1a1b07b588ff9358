# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The YAML shapes that no splice touches, each with its line and what to do about it."""

from __future__ import annotations

from .changes import REMOVE, Tree, Wanted
from .errors import UnsupportedEdit
from .lines import NEWLINE, line_number
from .yaml_nodes import MERGE, Entry, Kind, Node
from .yaml_plain import resolved

_MARKS = ("&", "*", "!")


def is_null(node: Node) -> bool:
    """Whether a value is absent, `~` or `null`."""
    return node.kind is Kind.SCALAR and not node.style and resolved(node.text) is None


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
    if any(entry.alias for entry in node.entries):
        raise UnsupportedEdit("a YAML alias stands in these braces", line_number(text, node.start), "Write it out")


def refuse_entry(text: str, entry: Entry, want: Tree | Wanted) -> None:
    """UnsupportedEdit when the value is marked, or is no mapping where one is needed, or the other way round."""
    node = entry.node
    line = line_number(text, entry.key_start)
    if entry.alias or text.startswith(_MARKS, node.start):
        raise UnsupportedEdit(f"{entry.key} holds a YAML anchor, alias or tag", line, "Write its value out plainly")
    if isinstance(want, dict):
        if node.kind is not Kind.MAPPING and not is_null(node):
            raise UnsupportedEdit(f"{entry.key} is not a mapping", line, "Correct or delete this key")
    elif want is not REMOVE and node.kind is Kind.MAPPING:
        raise UnsupportedEdit(f"{entry.key} holds a mapping, not a plain value", line, "Delete or correct this key")
