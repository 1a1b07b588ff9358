# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits inside a flow mapping: `{cpu: 500m, memory: 1Gi}` on one line, spacing and quotes of the other entries kept."""

from __future__ import annotations

from .changes import REMOVE, Tree, Wanted
from .yaml_nodes import Entry, Kind, Node
from .yaml_refusals import refuse_entry, refuse_mapping
from .yaml_scalar import key_text, value_text


def flow_mapping(text: str, node: Node, todo: Tree) -> str:
    """The new source of a flow mapping."""
    refuse_mapping(text, node)
    result = ""
    reached = node.start + 1
    for entry in node.entries:
        want = todo.get(entry.key)
        if want is not REMOVE:
            before = text[reached : entry.key_start] if result else text[node.start + 1 : node.entries[0].key_start]
            result += before + (_source(text, entry) if want is None else _changed(text, entry, want))
        else:
            refuse_entry(text, entry, want)
        reached = entry.node.end
    known = {entry.key for entry in node.entries}
    fresh = ", ".join(_fresh(key, want) for key, want in todo.items() if key not in known)
    closing = text[reached : node.end] if result else "}"
    return "{" + result + (", " if result and fresh else "") + fresh + closing


def _source(text: str, entry: Entry) -> str:
    return text[entry.key_start : entry.node.end]


def _changed(text: str, entry: Entry, want: Tree | Wanted) -> str:
    refuse_entry(text, entry, want)
    key = text[entry.key_start : entry.key_end]
    node = entry.node
    if not isinstance(want, dict):
        return f"{key}: {_value(want, text[node.start : node.end])}"
    if node.kind is Kind.MAPPING:
        return text[entry.key_start : node.start] + flow_mapping(text, node, want)
    return f"{key}: {_value(want)}"


def _fresh(key: str, want: Tree | Wanted) -> str:
    return f"{key_text(key)}: {_value(want)}"


def _value(want: Tree | Wanted, like: str = "") -> str:
    if isinstance(want, dict):
        return "{" + ", ".join(_fresh(key, below) for key, below in want.items()) + "}"
    return value_text(want, like)
