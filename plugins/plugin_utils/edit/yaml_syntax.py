# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of keys and values of a YAML text, and the text of new ones.

Positions are the marks of libyaml's events. An edit does not rely on them: its whole result is parsed again.
Scalars are written so that all parsers, of YAML 1.1 and 1.2, read the same value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from .document_changes import AppendItem, Edit, Item, ItemRemoval, PendingEdits, Removal, Scalar
from .readers import Events
from .splice import line_end, line_start

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

    ``alias``: the value is written `*name`, and the node has only its position.
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


def parse_nodes(text: str) -> Node | None:
    """The root node of a text that ``read_yaml`` accepts and that ends with a line end; None without a document."""
    events = Events(text)
    root = events.root()
    return None if root is None else _node(text, events, root)


def column(text: str, node: Node) -> int:
    """Column of the first key of a block mapping, or of the first dash of a block sequence."""
    first = node.entries[0].key_start if node.entries else node.start
    return first - line_start(text, first)


def end_of_block(text: str, node: Node, indent: int) -> int:
    """Index behind the lines of a node and the comments below them that are indented deeper than ``indent``."""
    at = line_end(text, node.end)
    comment = _COMMENT.match(text, at)
    while comment and len(comment[1]) > indent:
        at = line_end(text, at)
        comment = _COMMENT.match(text, at)
    return at


def block_mappings(node: Node) -> Iterator[Node]:
    """The block mappings that a path of keys can name, outermost first."""
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
    content = source.removesuffix("\n").removesuffix("\r") if "+" in header.split("#")[0] else source.rstrip()
    return start + len(content)


def _entries(text: str, events: Events) -> Iterator[Entry]:
    for key in events.members():
        key_end = key.end_mark.index
        node = _node(text, events, events.following())
        if node.start == node.end:
            # The mark of an absent value may be that of the next token.
            colon = COLON.match(text, key_end)
            at = colon.end() if colon else key_end
            node = Node(Kind.SCALAR, at, at)
        yield Entry(str(key.value), key.start_mark.index, key_end, node)


# Narrower than YAML allows: a word is quoted unless YAML 1.1, YAML 1.2, libyaml and go-yaml all read it as a string.
_PLAIN_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./%@+-]*\Z", re.ASCII)
_PLAIN_QUANTITY = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i|[MGTP]|s|ms|us|ns|h|%)\Z", re.ASCII)
_NOT_PLAIN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_SINGLE_QUOTABLE = re.compile("[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\\Z")


def scalar_text(value: Scalar, like: str = "") -> str:
    """One line of YAML for a value, valid in block and flow context; ``like`` is the old text, whose quotes are kept.

    A string that is safe without quotes gets none, even if it had some: agents look for the text
    `cgroupDriver: systemd` (volcano pkg/agent/utils/cgroup/cgroup.go).
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if _is_plain_text(value):
        return value
    if like.startswith("'") and _SINGLE_QUOTABLE.match(value):
        return "'" + value.replace("'", "''") + "'"
    return quote(value)


def quote(value: str) -> str:
    """A string in double quotes that YAML and JSON read alike."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def value_text(value: PendingEdits | Edit | Item, like: str = "") -> str:
    """One line of YAML: ``scalar_text``, a list in brackets, or a mapping in braces."""
    if isinstance(value, (str, bool, int, float)):
        return scalar_text(value, like)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key_text(key)}: {value_text(below)}" for key, below in value.items()) + "}"
    if isinstance(value, (Removal, AppendItem, ItemRemoval)):
        raise TypeError("a removal, or a change of a list, has no text")
    return "[" + ", ".join(value_text(item) for item in value) + "]"


def key_text(key: str) -> str:
    """The text of a key before its colon."""
    return scalar_text(key)


def _is_plain_text(value: str) -> bool:
    if _PLAIN_WORD.match(value):
        return value.lower() not in _NOT_PLAIN
    return _PLAIN_QUANTITY.match(value) is not None


def _float_text(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 reads 1e+16 as a string: its floats need a point.
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else mantissa + exponent + power


@dataclass(frozen=True)
class Style:
    """The text, and by how many columns it indents a nested mapping and the dashes of a list."""

    text: str
    mapping: int
    dash: int

    @classmethod
    def of(cls, text: str, root: Node | None) -> Style:
        """The indentation of the first nested mapping, or two columns, and of the first list, or none."""
        steps: dict[Kind, int] = {}
        for outer in block_mappings(root) if root else ():
            for node in (entry.node for entry in outer.entries if not entry.node.flow):
                steps.setdefault(node.kind, column(text, node) - column(text, outer))
        return cls(text, steps.get(Kind.MAPPING, 2), steps.get(Kind.SEQUENCE, 0))

    def lines(self, todo: PendingEdits | Mapping[str, Item], indent: int, end: str) -> str:
        """The keys of ``todo`` as a new block."""
        return "".join(self._key_lines(key, value, indent, end) for key, value in todo.items())

    def dashes(self, items: Sequence[Item], indent: int, end: str) -> str:
        """A block list."""
        return "".join(self._item_lines(item, indent, end) for item in items)

    def _key_lines(self, key: str, value: PendingEdits | Edit | Item, indent: int, end: str) -> str:
        head = f"{' ' * indent}{key_text(key)}:"
        if isinstance(value, Mapping) and value:
            return head + end + self.lines(value, indent + self.mapping, end)
        if isinstance(value, list) and value:
            return head + end + self.dashes(value, indent + self.dash, end)
        return f"{head} {value_text(value)}{end}"

    def _item_lines(self, item: Item, indent: int, end: str) -> str:
        if isinstance(item, Mapping) and item:
            block = self.lines(item, indent + 2, end)
            return f"{' ' * indent}- {block[indent + 2 :]}"
        return f"{' ' * indent}- {value_text(item)}{end}"
