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
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
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
        node = _node(text, _behind(_COLON, text, end))
        yield Entry(_decoded(text[at:end]), at, end, node)
        at = _behind(_COMMA, text, node.end)


def _decoded(source: str) -> str:
    return str(json.loads(source)) if "\\" in source else source[1:-1]


def _items(text: str, start: int) -> Iterator[Node]:
    at = _skipped(text, start + 1)
    while text[at] != "]":
        node = _node(text, at)
        yield node
        at = _behind(_COMMA, text, node.end)


def _closing(text: str, reached: int) -> int:
    """Index behind the bracket that closes a collection."""
    return _skipped(text, reached) + 1


def _skipped(text: str, at: int) -> int:
    return _behind(_WHITESPACE, text, at)


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
