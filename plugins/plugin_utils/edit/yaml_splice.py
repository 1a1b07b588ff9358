# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes values of a YAML text line by line; comments, order, quotes and line ends of all other lines stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .changes import Append, Changes, Dropped, Edit, Removal, Todo, tree
from .document import applied, needed, pruned
from .lines import NEWLINE, line_end, line_end_style, line_start
from .read import read_yaml
from .splice import Envelope, Splice, proven, spliced
from .yaml_block import Style
from .yaml_flow import flow_mapping
from .yaml_list import in_brackets, with_dashes
from .yaml_nodes import Entry, Kind, Node, column, end_of_block, located
from .yaml_refusals import colon_end, refuse_entry, refuse_mapping, refuse_root
from .yaml_removal import emptied, removed
from .yaml_scalar import value_text

_DOCUMENT_END = re.compile(r"^\.\.\.(?=\s|\Z)", re.MULTILINE)


def _as_it_is(text: str) -> str:
    return text


def edit_yaml(text: str, changes: Changes, finish: Callable[[str], str] = _as_it_is) -> str:
    """The text with the wishes of ``changes`` (by paths of keys) fulfilled, then changed by ``finish`` in form alone.

    A new key follows the last key of its mapping, and the comments that are indented deeper than it; comments and
    blank lines at the end of the document stay at the end. In a text without keys it follows the last comment.
    A new mapping is indented as the file's first nested one, by two where there is none.
    REMOVE takes a key out, and the mapping that it was the last key of; braces and a mapping with comments in it stay.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read_yaml(text)
    todo = needed(before, tree(changes))
    if not todo:
        finished = finish(text)
        return text if finished == text else proven(finished, before, read_yaml)
    envelope, body = Envelope.of(text)
    root = located(body)
    todo = pruned(before, todo, lambda path: emptied(body, root, path))
    after = spliced(body, _document(body, root, todo))
    return proven(finish(envelope.around(after)), applied(before, todo), read_yaml)


def _document(text: str, root: Node | None, todo: Todo) -> Iterator[Splice]:
    style = Style.of(text, root)
    if root is None or (root.kind is Kind.SCALAR and root.start == root.end):
        at = _end_of_comments(text)
        yield Splice(at, at, style.lines(todo, 0, line_end_style(text, at)))
        return
    refuse_root(text, root)
    yield from mapping_splices(style, root, todo)


def _end_of_comments(text: str) -> int:
    marker = _DOCUMENT_END.search(text)
    end = marker.start() if marker else len(text)
    content = text[:end].rstrip()
    return line_end(text, len(content)) if content else 0


def mapping_splices(style: Style, node: Node, todo: Todo) -> Iterator[Splice]:
    """What ``todo`` changes in one mapping, wherever it stands in the text."""
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
        at = end_of_block(text, node, column(text, node))
        yield Splice(at, at, style.lines(fresh, column(text, node), line_end_style(text, at)))


def _entry(style: Style, entry: Entry, want: Todo | Edit) -> Iterator[Splice]:
    text = style.text
    refuse_entry(text, entry, want)
    colon = colon_end(text, entry)
    if isinstance(want, Removal):
        yield from removed(text, entry, want)
    elif isinstance(want, (Append, Dropped)):
        node = entry.node
        yield from in_brackets(text, node, want) if node.flow else with_dashes(style, node, colon, want)
    elif not isinstance(want, dict):
        yield from _replaced(style, entry.node, colon, want)
    elif entry.node.kind is Kind.MAPPING:
        yield from mapping_splices(style, entry.node, want)
    else:
        yield from _filled(style, entry, colon, want)


def _replaced(style: Style, node: Node, colon: int, want: Edit) -> Iterator[Splice]:
    text = style.text
    if node.kind is Kind.SEQUENCE and not node.flow:
        begin, end = line_start(text, node.start), line_end(text, node.end)
        if isinstance(want, list) and want:
            yield Splice(begin, end, style.dashes(want, column(text, node), line_end_style(text, begin)))
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


def _filled(style: Style, entry: Entry, colon: int, want: Todo) -> Iterator[Splice]:
    """Keys under a key that has no value yet, or `null`."""
    text = style.text
    yield Splice(colon, entry.node.end, "")
    at = line_end(text, entry.key_end)
    indent = entry.key_start - line_start(text, entry.key_start) + style.mapping
    yield Splice(at, at, style.lines(want, indent, line_end_style(text, at)))
