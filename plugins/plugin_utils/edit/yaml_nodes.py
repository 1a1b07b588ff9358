# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each key and value of a YAML text stands, by ruamel.yaml; the edit is proven by another parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .errors import UnsupportedEdit
from .library import library
from .lines import line_end, line_start

MERGE = "<<"
_INNER_TAB = re.compile(r"(?<=\S)[ \t]*\t[ \t]*")
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:-[ \t]+)*-(?=[ \t]*(?:#.*)?\r?$)", re.MULTILINE)
COLON = re.compile(r"[ \t]*:")
_COMMENT = re.compile(r"( *)#")
_ALIAS = re.compile(r"\*[^\s,\[\]{}]+")


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
    """The root node of a text whose last line is ended; None when there is no document."""
    yaml = library("ruamel.yaml")
    # Between tokens go-yaml and libyaml take a tab for a blank, ruamel.yaml refuses it.
    readable = _INNER_TAB.sub(lambda match: " " * len(match[0]), text)
    try:
        root = yaml.YAML(typ="safe", pure=True).compose(readable)
    except yaml.error.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a character it does not allow"
        # Without its cause, whose message quotes the line.
        raise UnsupportedEdit(
            f"YAML 1.2 reads this line otherwise than kubelet does: {problem}",
            mark.line + 1 if mark else None,
            "Write it in a form that every YAML parser takes",
        ) from None
    return None if root is None else _node(text, root)


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


def _node(text: str, composed: Any) -> Node:
    start = composed.start_mark.index
    end = composed.end_mark.index
    if composed.id == "scalar":
        end = _scalar_end(text, start, end, composed.style)
        return Node(Kind.SCALAR, start, end, style=composed.style, text=composed.value)
    flow = bool(composed.flow_style)
    if composed.id == "sequence":
        items = tuple(_items(text, composed))
        return Node(Kind.SEQUENCE, start, end if flow else items[-1].end, flow, items=items)
    entries = tuple(_entries(text, composed.value))
    return Node(Kind.MAPPING, start, end if flow else entries[-1].node.end, flow, entries=entries)


def _scalar_end(text: str, start: int, end: int, style: str | None) -> int:
    if style not in ("|", ">"):
        return end
    source = text[start:end]
    header = source.split("\n", 1)[0]
    # With "+" the blank lines at the end are content.
    kept = source.removesuffix("\n").removesuffix("\r") if "+" in header.split("#")[0] else source.rstrip()
    return start + len(kept)


def _entries(text: str, pairs: Iterable[tuple[Any, Any]]) -> Iterator[Entry]:
    for key, value in pairs:
        key_start, key_end = key.start_mark.index, key.end_mark.index
        node = _placed(text, value, key_end)
        if node.start == node.end:
            # ruamel.yaml puts an absent value at the next key.
            colon = COLON.match(text, key_end)
            at = colon.end() if colon else key_end
            node = Node(Kind.SCALAR, at, at)
        yield Entry(str(key.value), key_start, key_end, node)


def _placed(text: str, composed: Any, reached: int) -> Node:
    """The node; for an alias, which ruamel.yaml replaces by the far node it names, a stand-in at the alias itself."""
    if composed.start_mark.index >= reached:
        return _node(text, composed)
    alias = _ALIAS.search(text, reached)
    start, end = alias.span() if alias else (reached, reached)
    return Node(Kind.SCALAR, start, end, alias=True)


def _items(text: str, composed: Any) -> Iterator[Node]:
    reached = int(composed.start_mark.index)
    for item in composed.value:
        node = _placed(text, item, reached)
        if node.start == node.end:
            dash = list(_EMPTY_ITEM.finditer(text, reached, node.start))
            at = dash[-1].end() if dash else reached
            node = Node(Kind.SCALAR, at, at)
        reached = node.end
        yield node
