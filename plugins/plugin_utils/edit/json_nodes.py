# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each key and value of a JSON text stands: the nodes are those of YAML, whose flow style contains JSON.

The text has to be valid JSON (``read_json``); nothing is checked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .lines import BOM
from .yaml_nodes import Entry, Kind, Node

_WHITESPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_WORD = re.compile(r"[^ \t\r\n,\]}]+")
"""A number, true, false or null."""


def located_json(text: str) -> Node:
    """The root node of a JSON text."""
    return _node(text, _skipped(text, len(BOM) if text.startswith(BOM) else 0))


def _node(text: str, start: int) -> Node:
    opening = text[start]
    if opening == "{":
        entries = tuple(_entries(text, start))
        end = _closing(text, entries[-1].node.end if entries else start + 1)
        return Node(Kind.MAPPING, start, end, flow=True, entries=entries)
    if opening == "[":
        items = tuple(_items(text, start))
        end = _closing(text, items[-1].end if items else start + 1)
        return Node(Kind.SEQUENCE, start, end, flow=True, items=items)
    end = _behind(_STRING if opening == '"' else _WORD, text, start)
    return Node(Kind.SCALAR, start, end, style='"' if opening == '"' else None, text=text[start:end])


def _entries(text: str, start: int) -> Iterator[Entry]:
    at = _skipped(text, start + 1)
    while text[at] != "}":
        end = _behind(_STRING, text, at)
        colon = _skipped(text, end)
        node = _node(text, _skipped(text, colon + 1))
        yield Entry(str(json.loads(text[at:end])), at, end, node)
        at = _following(text, node.end)


def _items(text: str, start: int) -> Iterator[Node]:
    at = _skipped(text, start + 1)
    while text[at] != "]":
        node = _node(text, at)
        yield node
        at = _following(text, node.end)


def _following(text: str, end: int) -> int:
    """Index of the next key or item, or of the closing bracket."""
    at = _skipped(text, end)
    return _skipped(text, at + 1) if text[at] == "," else at


def _closing(text: str, reached: int) -> int:
    """Index behind the bracket that closes a collection."""
    return _skipped(text, reached) + 1


def _skipped(text: str, at: int) -> int:
    return _behind(_WHITESPACE, text, at)


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
