# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits inside a flow mapping: `{cpu: 500m, memory: 1Gi}` on one line, spacing and quotes of the other entries kept."""

from __future__ import annotations

from .changes import REMOVE, Tree, Wanted
from .errors import UnsupportedEdit
from .splice import NEWLINE, line_number
from .yaml_nodes import MERGE, Entry, Kind, Node
from .yaml_scalar import flow_sequence, resolved, scalar_text


def flow_mapping(text: str, node: Node, todo: Tree) -> str:
    """The new source of a flow mapping."""
    _refuse_unclear(text, node)
    ends = [node.start + 1, *(entry.node.end for entry in node.entries)]
    result = ""
    for number, entry in enumerate(node.entries):
        want = todo.get(entry.key)
        if want is REMOVE:
            continue
        gap = text[ends[number] : entry.key_start]
        if not result:
            gap = text[ends[0] : node.entries[0].key_start]
        elif number > 0 and "," not in gap:
            gap = ", "
        source = text[entry.key_start : entry.node.end] if want is None else _entry(text, entry, want)
        result += gap + source
    known = {entry.key for entry in node.entries}
    for key, want in todo.items():
        if key not in known:
            result += (", " if result else "") + fresh_entry(key, want)
    closing = text[ends[-1] : node.end] if node.entries and result else "}"
    return "{" + result + closing


def fresh_entry(key: str, want: Tree | Wanted) -> str:
    """`key: value` as it stands in a flow mapping."""
    return f"{scalar_text(key)}: {_value(want)}"


def _value(want: Tree | Wanted, like: str = "") -> str:
    if isinstance(want, dict):
        return "{" + ", ".join(fresh_entry(key, below) for key, below in want.items()) + "}"
    if isinstance(want, (str, bool, int, float)):
        return scalar_text(want, like)
    assert want is not REMOVE  # noqa: S101 - a key that is not there needs no removal
    return flow_sequence(want)
