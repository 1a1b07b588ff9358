# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits inside a flow mapping: `{cpu: 500m, memory: 1Gi}` on one line, spacing and quotes of the other entries kept."""

from __future__ import annotations

from .changes import Append, Dropped, Edit, Removal, Todo
from .splice import spliced
from .yaml_list import in_brackets
from .yaml_nodes import Entry, Kind, Node
from .yaml_refusals import refuse_entry, refuse_mapping
from .yaml_scalar import key_text, value_text


def flow_mapping(text: str, node: Node, todo: Todo) -> str:
    """The new source of a flow mapping; one that is emptied keeps its braces."""
    refuse_mapping(text, node)
    opening = text[node.start + 1 : node.entries[0].key_start if node.entries else node.end - 1]
    result = ""
    reached = node.start + 1
    for entry in node.entries:
        want = todo.get(entry.key)
        if isinstance(want, Removal):
            refuse_entry(text, entry, want)
        else:
            before = text[reached : entry.key_start] if result else opening
            result += before + (_source(text, entry) if want is None else _changed(text, entry, want))
        reached = entry.node.end
    known = {entry.key for entry in node.entries}
    fresh = ", ".join(f"{key_text(key)}: {value_text(want)}" for key, want in todo.items() if key not in known)
    if result:
        return "{" + result + (", " if fresh else "") + fresh + text[reached : node.end]
    return "{" + opening + fresh + (opening if fresh else "") + "}"


def _source(text: str, entry: Entry) -> str:
    return text[entry.key_start : entry.node.end]


def _changed(text: str, entry: Entry, want: Todo | Edit) -> str:
    refuse_entry(text, entry, want)
    key = text[entry.key_start : entry.key_end]
    node = entry.node
    if isinstance(want, (Append, Dropped)):
        return _with_list(text, entry, want)
    if not isinstance(want, dict):
        return f"{key}: {value_text(want, text[node.start : node.end])}"
    if node.kind is Kind.MAPPING:
        return text[entry.key_start : node.start] + flow_mapping(text, node, want)
    return f"{key}: {value_text(want)}"


def _with_list(text: str, entry: Entry, want: Append | Dropped) -> str:
    after = spliced(text, in_brackets(text, entry.node, want))
    return after[entry.key_start : entry.node.end + len(after) - len(text)]
