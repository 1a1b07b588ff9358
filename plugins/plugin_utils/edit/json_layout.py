# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""New JSON, laid out as the file around it: on one line or on several, with its indentation and spacing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .changes import Append, Dropped, Edit, Item, Removal, Scalar, Todo
from .errors import UnsupportedEdit
from .lines import BOM, NEWLINE, line_end_style, line_start
from .yaml_nodes import Kind, Node
from .yaml_scalar import quoted

_STEP = "  "


def spans(node: Node) -> tuple[tuple[int, int], ...]:
    """Where the members of an object or array stand, each key with its value."""
    if node.kind is Kind.MAPPING:
        return tuple((entry.key_start, entry.node.end) for entry in node.entries)
    return tuple((item.start, item.end) for item in node.items)


def indentation(text: str, position: int) -> str:
    """The whitespace that begins the line of a position."""
    line = text[line_start(text, position) : position].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def has_lines(text: str, node: Node) -> bool:
    """Whether a member stands on another line than the bracket or the member before it."""
    members = spans(node)
    reached = (node.start, *(end for _start, end in members))
    following = (*(start for start, _end in members), node.end)
    gaps = tuple(zip(reached, following, strict=True))
    return any(NEWLINE in text[start:end] for start, end in (gaps[:-1] if members else gaps))


@dataclass(frozen=True)
class Layout:
    """``colon`` and ``comma`` with their spaces on one line, ``step`` and ``end`` of a line where there are several.

    ``lines``: the kinds of collection that are written on several lines.
    """

    colon: str
    comma: str
    step: str
    end: str
    lines: frozenset[Kind]

    @classmethod
    def of(cls, text: str, root: Node) -> Layout:
        """As the first key, the first nested object and the first array; as the document where it has none."""
        colon = text[root.entries[0].key_end : root.entries[0].node.start] if root.entries else ": "
        colon = ": " if NEWLINE in colon else colon
        kinds = (kind for kind in (Kind.MAPPING, Kind.SEQUENCE) if _is_on_lines(text, root, kind))
        end = line_end_style(text, root.end)
        return cls(colon, "," if colon == ":" else ", ", _step(text, root), end, frozenset(kinds))

    def like(self, text: str, node: Node) -> Layout:
        """With collections of the node's kind written as the node is; an empty one shows that only by its lines."""
        if not spans(node) and not has_lines(text, node):
            return self
        kind = frozenset((node.kind,))
        return replace(self, lines=self.lines | kind if has_lines(text, node) else self.lines - kind)

    def member(self, key: str, want: Todo | Edit | Item, indent: str) -> str:
        """A key with its value, in a line that begins with ``indent``."""
        return f"{quoted(key)}{self.colon}{self.value(want, indent)}"

    def value(self, want: Todo | Edit | Item, indent: str) -> str:
        """A value, in a line that begins with ``indent``."""
        if isinstance(want, (Removal, Append, Dropped)):
            raise TypeError("a removal, or a change of a list, has no text")
        if isinstance(want, Mapping):
            inner = self.inner(Kind.MAPPING, indent)
            members = [self.member(key, below, inner) for key, below in want.items()]
            return "{" + self.joined(Kind.MAPPING, members, indent) + "}"
        if isinstance(want, (str, bool, int, float)):
            return _scalar(want)
        items = [self.value(item, self.inner(Kind.SEQUENCE, indent)) for item in want]
        return "[" + self.joined(Kind.SEQUENCE, items, indent) + "]"

    def inner(self, kind: Kind, indent: str) -> str:
        """The indentation of the lines in which members of such a collection stand."""
        return indent + self.step if kind in self.lines else indent

    def joined(self, kind: Kind, members: Sequence[str], indent: str) -> str:
        """What stands between the brackets."""
        if kind not in self.lines or not members:
            return self.comma.join(members)
        begin = self.end + indent + self.step
        return begin + f",{begin}".join(members) + self.end + indent


def _scalar(value: Scalar) -> str:
    if isinstance(value, str):
        return quoted(value)
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        raise UnsupportedEdit("JSON has neither NaN nor infinity", None, "Choose a finite number") from None


def _collections(node: Node) -> Iterator[Node]:
    """All objects and arrays that hold something, the document first."""
    if spans(node):
        yield node
    for below in (*(entry.node for entry in node.entries), *node.items):
        if below.kind is not Kind.SCALAR:
            yield from _collections(below)


def _is_on_lines(text: str, root: Node, kind: Kind) -> bool:
    nested = (node for node in _collections(root) if node.kind is kind and node is not root)
    return has_lines(text, next(nested, root))


def _step(text: str, root: Node) -> str:
    for node in _collections(root):
        first = spans(node)[0][0]
        inner, outer = indentation(text, first), indentation(text, node.start)
        begins_line = text[line_start(text, first) : first] == inner
        if begins_line and inner.startswith(outer) and inner != outer:
            return inner[len(outer) :]
    return _STEP
