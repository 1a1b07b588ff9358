# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each key and value of a YAML text stands, by the marks of libyaml's events.

An edit does not rely on them: its result is read again as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .lines import line_end, line_start
from .yaml_events import Events

MERGE = "<<"
COLON = re.compile(r"[ \t]*:")
_COMMENT = re.compile(r"( *)#")


class Kind(Enum):
    """The three kinds of YAML node."""

    SCALAR = auto()
    SEQUENCE = auto()
    MAPPING = auto()


@dataclass(frozen=True)
class Node:
    """A value; text[start:end] is its source without what follows it (line break, blank lines, comments).

    ``alias``: the value is written `*name`, and the node only says where that stands.
    """

    kind: Kind
    start: int
    end: int
    flow: bool = False
    style: str | None = None
    text: str = ""
    entries: tuple[Entry, ...] = ()
    items: tuple[Node, ...] = ()
    alias: bool = False


@dataclass(frozen=True)
class Entry:
    """A key and its value."""

    key: str
    key_start: int
    key_end: int
    node: Node


def located(text: str) -> Node | None:
    """The root node of a text that ``read_yaml`` takes and whose last line is ended; None when there is no document."""
    events = Events(text)
    root = events.root()
    return None if root is None else _node(text, events, root)


def column(text: str, node: Node) -> int:
    """Column of the first key of a block mapping, or of the first dash of a block sequence."""
    first = node.entries[0].key_start if node.entries else node.start
    return first - line_start(text, first)


def end_of_block(text: str, node: Node, indent: int) -> int:
    """Index behind the lines of a node and behind the comments that follow it, if they stand deeper than ``indent``."""
    at = line_end(text, node.end)
    comment = _COMMENT.match(text, at)
    while comment and len(comment[1]) > indent:
        at = line_end(text, at)
        comment = _COMMENT.match(text, at)
    return at


def block_mappings(node: Node) -> Iterator[Node]:
    """The block mappings that can be reached by keys, outermost first."""
    if node.kind is Kind.MAPPING and not node.flow:
        yield node
        for entry in node.entries:
            yield from block_mappings(entry.node)


def _node(text: str, events: Events, event: Any) -> Node:
    start = event.start_mark.index
    if events.is_alias(event):
        return Node(Kind.SCALAR, start, event.end_mark.index, alias=True)
    if events.is_scalar(event):
        end = _scalar_end(text, start, event.end_mark.index, event.style)
        return Node(Kind.SCALAR, start, end, style=event.style, text=event.value)
    flow = bool(event.flow_style)
    if events.is_mapping(event):
        entries = tuple(_entries(text, events))
        return Node(Kind.MAPPING, start, events.end if flow else entries[-1].node.end, flow, entries=entries)
    items = tuple(_node(text, events, item) for item in events.members())
    return Node(Kind.SEQUENCE, start, events.end if flow else items[-1].end, flow, items=items)


def _scalar_end(text: str, start: int, end: int, style: str | None) -> int:
    if style not in ("|", ">"):
        return end
    source = text[start:end]
    header = source.split("\n", 1)[0]
    # With "+" the blank lines at the end are content.
    kept = source.removesuffix("\n").removesuffix("\r") if "+" in header.split("#")[0] else source.rstrip()
    return start + len(kept)


def _entries(text: str, events: Events) -> Iterator[Entry]:
    for key in events.members():
        key_end = key.end_mark.index
        node = _node(text, events, events.following())
        if node.start == node.end:
            # The mark of an absent value may be that of what follows it.
            colon = COLON.match(text, key_end)
            at = colon.end() if colon else key_end
            node = Node(Kind.SCALAR, at, at)
        yield Entry(str(key.value), key.start_mark.index, key_end, node)
