# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes values of a YAML text line by line; comments, order, quotes and line ends of all other lines stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .changes import REMOVE, Changes, Tree, Wanted, applied, needed, tree
from .errors import UnsupportedEdit
from .lines import NEWLINE, line_end, line_end_style, line_number, line_start
from .read import read_yaml
from .splice import Envelope, Splice, proven, spliced
from .yaml_flow import flow_mapping
from .yaml_nodes import COLON, Entry, Kind, Node, block_mappings, column, located
from .yaml_refusals import refuse_entry, refuse_mapping, refuse_root
from .yaml_scalar import key_text, scalar_text, value_text

_DOCUMENT_END = re.compile(r"^\.\.\.(?=\s|\Z)", re.MULTILINE)
_COMMENT = re.compile(r"( *)#")


def edit_yaml(text: str, changes: Changes) -> str:
    """The text with the values of ``changes`` (paths of keys; REMOVE deletes a key and a mapping that it emptied).

    A new key follows the last key of its mapping, and the comments that are indented deeper than it; comments and
    blank lines at the end of the document stay at the end. In a text without keys it follows the last comment.
    A new mapping is indented as the file's first nested one, by two where there is none.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read_yaml(text)
    todo = needed(before, tree(changes))
    if not todo:
        return text
    envelope, body = Envelope.of(text)
    root = located(body)
    after = spliced(body, _document(body, root, todo))
    return proven(envelope.around(after), applied(before, todo), read_yaml)


@dataclass(frozen=True)
class _Style:
    """The text, and the columns by which it indents a nested mapping and the dashes of a list."""

    text: str
    mapping: int
    dash: int

    @classmethod
    def of(cls, text: str, root: Node | None) -> _Style:
        steps: dict[Kind, int] = {}
        for outer in block_mappings(root) if root else ():
            for node in (entry.node for entry in outer.entries if not entry.node.flow):
                steps.setdefault(node.kind, column(text, node) - column(text, outer))
        mapping = steps.get(Kind.MAPPING, 2)
        dash = steps.get(Kind.SEQUENCE, 0)
        return cls(text, mapping, dash)

    def lines(self, todo: Tree, indent: int, end: str) -> str:
        """The keys of ``todo`` as a new block."""
        return "".join(self._key_lines(key, want, indent, end) for key, want in todo.items())

    def _key_lines(self, key: str, want: Tree | Wanted, indent: int, end: str) -> str:
        head = f"{' ' * indent}{key_text(key)}:"
        if isinstance(want, dict):
            return head + end + self.lines(want, indent + self.mapping, end)
        if isinstance(want, list) and want:
            return head + end + dashes(want, indent + self.dash, end)
        return f"{head} {value_text(want)}{end}"


def dashes(items: list[str], indent: int, end: str) -> str:
    """A block sequence."""
    return "".join(f"{' ' * indent}- {scalar_text(item)}{end}" for item in items)


def _document(text: str, root: Node | None, todo: Tree) -> Iterator[Splice]:
    style = _Style.of(text, root)
    if root is None or (root.kind is Kind.SCALAR and root.start == root.end):
        at = _end_of_comments(text)
        yield Splice(at, at, style.lines(todo, 0, line_end_style(text, at)))
        return
    refuse_root(text, root)
    yield from _mapping(style, root, todo)


def _end_of_comments(text: str) -> int:
    marker = _DOCUMENT_END.search(text)
    end = marker.start() if marker else len(text)
    content = text[:end].rstrip()
    return line_end(text, len(content)) if content else 0


def _mapping(style: _Style, node: Node, todo: Tree) -> Iterator[Splice]:
    text = style.text
    if node.flow:
        yield Splice(node.start, node.end, flow_mapping(text, node, todo))
        return
    refuse_mapping(text, node)
    for entry in node.entries:
        if entry.key in todo:
            yield from _entry(style, entry, todo[entry.key])
    known = {entry.key for entry in node.entries}
    fresh = {key: want for key, want in todo.items() if key not in known}
    if fresh:
        at = _end_of_block(text, node)
        yield Splice(at, at, style.lines(fresh, column(text, node), line_end_style(text, at)))


def _end_of_block(text: str, node: Node) -> int:
    at = line_end(text, node.end)
    comment = _COMMENT.match(text, at)
    while comment and len(comment[1]) > column(text, node):
        at = line_end(text, at)
        comment = _COMMENT.match(text, at)
    return at


def _entry(style: _Style, entry: Entry, want: Tree | Wanted) -> Iterator[Splice]:
    text = style.text
    refuse_entry(text, entry, want)
    begin = line_start(text, entry.key_start)
    colon = COLON.match(text, entry.key_end)
    if text[begin : entry.key_start].strip() or colon is None:
        line = line_number(text, entry.key_start)
        raise UnsupportedEdit(f"{entry.key} does not begin its line", line, "Write it as a plain 'key: value' line")
    if want is REMOVE:
        yield Splice(begin, line_end(text, entry.node.end), "")
    elif not isinstance(want, dict):
        yield from _replaced(text, entry.node, colon.end(), want)
    elif entry.node.kind is Kind.MAPPING:
        yield from _mapping(style, entry.node, want)
    else:
        yield from _filled(style, entry, colon.end(), want)


def _replaced(text: str, node: Node, colon: int, want: Wanted) -> Iterator[Splice]:
    if node.kind is Kind.SEQUENCE and not node.flow:
        begin, end = line_start(text, node.start), line_end(text, node.end)
        if isinstance(want, list) and want:
            yield Splice(begin, end, dashes(want, column(text, node), line_end_style(text, begin)))
        else:
            yield Splice(colon, colon, " " + value_text(want))
            yield Splice(begin, end, "")
    elif node.start == node.end:
        yield Splice(colon, colon, " " + value_text(want))
    else:
        old = text[node.start : node.end].rstrip()
        kept = _header_comment(old) if node.style in ("|", ">") else ""
        yield Splice(node.start, node.start + len(old), value_text(want, old) + kept)


def _header_comment(block_scalar: str) -> str:
    """The comment behind `|` or `>`, with the blanks before it."""
    header = block_scalar.split(NEWLINE, 1)[0].rstrip()
    before, mark, _comment = header.partition("#")
    return header[len(before.rstrip()) :] if mark else ""


def _filled(style: _Style, entry: Entry, colon: int, want: Tree) -> Iterator[Splice]:
    """Keys under a key that has no value yet, or `null`."""
    text = style.text
    yield Splice(colon, entry.node.end, "")
    at = line_end(text, entry.key_end)
    indent = entry.key_start - line_start(text, entry.key_start) + style.mapping
    yield Splice(at, at, style.lines(want, indent, line_end_style(text, at)))
