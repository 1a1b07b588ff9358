# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change values of a YAML text line by line; comments, order, quotes and line ends of all other lines stay.

Forms that a splice cannot change are refused, each with its line and a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .document_changes import (
    EMPTIED,
    AppendItem,
    Changes,
    Edit,
    EmptiedMapping,
    Item,
    ItemRemoval,
    Path,
    PendingEdits,
    Removal,
    apply_edits,
    missing_edits,
    prune_emptied,
    to_tree,
)
from .readers import read_yaml, resolve_plain
from .splice import (
    NEWLINE,
    Envelope,
    Splice,
    apply_splices,
    line_end,
    line_end_style,
    line_number,
    line_start,
    require_document,
)
from .text_errors import UnsupportedEdit
from .yaml_lists import block_list_splices, bracket_list_splices, is_marked, replaced_block_list
from .yaml_syntax import COLON, MERGE, Entry, Kind, Node, Style, column, end_of_block, key_text, parse_nodes, value_text

_MARKS = ("&", "*", "!")


def is_null(node: Node) -> bool:
    """Whether a value is absent, `~` or `null`."""
    return node.kind is Kind.SCALAR and not node.style and resolve_plain(node.text) is None


def refuse_root(text: str, root: Node) -> None:
    """UnsupportedEdit unless keys can be added to the document."""
    if root.kind is not Kind.MAPPING or text[root.start] in _MARKS:
        raise UnsupportedEdit(
            "the document is an explicit null, or has an anchor or tag",
            line_number(text, root.start),
            "Let the document be a plain mapping of keys",
        )


def refuse_mapping(text: str, node: Node) -> None:
    """UnsupportedEdit for a mapping with merge keys or aliases, or in braces over several lines."""
    for entry in node.entries:
        if entry.key == MERGE:
            line = line_number(text, entry.key_start)
            raise UnsupportedEdit("a merge key (<<) adds to this mapping", line, "Write the merged keys out")
    if not node.flow:
        return
    if NEWLINE in text[node.start : node.end]:
        raise UnsupportedEdit(
            "a mapping in braces extends over several lines (is the file JSON?)",
            line_number(text, node.start),
            "Write it on one line, or one key a line without braces",
        )
    if any(entry.node.alias for entry in node.entries):
        raise UnsupportedEdit("these braces contain a YAML alias", line_number(text, node.start), "Write it out")


def refuse_entry(text: str, entry: Entry, edit: PendingEdits | Edit) -> None:
    """UnsupportedEdit if the value is marked, or has another kind (mapping, list, scalar) than the edit needs."""
    node = entry.node
    line = line_number(text, entry.key_start)
    if is_marked(text, node):
        raise UnsupportedEdit(f"{entry.key} holds a YAML anchor, alias or tag", line, "Write its value out plainly")
    if isinstance(edit, dict):
        if node.kind is not Kind.MAPPING and not is_null(node):
            raise UnsupportedEdit(f"{entry.key} is not a mapping", line, "Correct or delete this key")
    elif isinstance(edit, (AppendItem, ItemRemoval)):
        if node.kind is not Kind.SEQUENCE:
            raise UnsupportedEdit(f"{entry.key} is not a list", line, "Correct or delete this key")
        if isinstance(edit, ItemRemoval):
            _refuse_item(text, entry, edit)
    elif not isinstance(edit, Removal) and node.kind is Kind.MAPPING:
        raise UnsupportedEdit(f"{entry.key} holds a mapping, not a plain value", line, "Delete or correct this key")


def colon_end(text: str, entry: Entry) -> int:
    """Index behind the colon of a key; UnsupportedEdit unless the key begins its line and the colon is on it."""
    colon = COLON.match(text, entry.key_end)
    if text[line_start(text, entry.key_start) : entry.key_start].strip() or colon is None:
        line = line_number(text, entry.key_start)
        raise UnsupportedEdit(f"{entry.key} does not begin its line", line, "Write it as a plain 'key: value' line")
    return colon.end()


def _refuse_item(text: str, entry: Entry, edit: ItemRemoval) -> None:
    line = line_number(text, entry.key_start)
    if len(edit.places) != 1:
        raise UnsupportedEdit(f"{entry.key} holds an item twice", line, "Keep one of the two")
    item = entry.node.items[edit.places[0]]
    if is_marked(text, item) or item.start == item.end:
        line = line_number(text, item.start)
        raise UnsupportedEdit(f"an item of {entry.key} is not written plainly", line, "Write it out, or remove it")


def emptied_mapping(text: str, root: Node | None, path: Path) -> EmptiedMapping:
    """What to do with the mapping at ``path`` once it is empty.

    The collection never writes braces for a value, or comments: a mapping that has them is the user's and stays.
    """
    outer, entry = root, None
    for key in path:
        if entry is not None:
            outer = entry.node
        entry = next((candidate for candidate in outer.entries if candidate.key == key), None) if outer else None
    if entry is None or outer is None or entry.node.kind is not Kind.MAPPING:
        return EmptiedMapping.DELETE
    if entry.node.flow:
        return EmptiedMapping.DELETE if outer.flow else EmptiedMapping.KEEP
    return EmptiedMapping.NULL if _has_comments(text, entry) else EmptiedMapping.DELETE


def removal_splices(text: str, entry: Entry, how: Removal) -> Iterator[Splice]:
    """Delete the lines of a key, or with EMPTIED those of the keys in its mapping."""
    for removed in entry.node.entries if how is EMPTIED else (entry,):
        colon_end(text, removed)
        yield Splice(line_start(text, removed.key_start), line_end(text, removed.node.end), "")


def _has_comments(text: str, entry: Entry) -> bool:
    """Whether comments belong to the block mapping itself, and not to one of its keys."""
    reached = entry.key_end
    for key_entry in entry.node.entries:
        if "#" in text[reached : key_entry.key_start]:
            return True
        reached = line_end(text, key_entry.node.end)
    indent = entry.key_start - line_start(text, entry.key_start)
    return end_of_block(text, entry.node, indent) > reached


def flow_mapping(text: str, node: Node, todo: PendingEdits) -> str:
    """The new source of a flow mapping; an emptied one keeps its braces."""
    refuse_mapping(text, node)
    opening = text[node.start + 1 : node.entries[0].key_start if node.entries else node.end - 1]
    result = ""
    reached = node.start + 1
    for entry in node.entries:
        edit = todo.get(entry.key)
        if isinstance(edit, Removal):
            refuse_entry(text, entry, edit)
        else:
            before = text[reached : entry.key_start] if result else opening
            result += before + (_source(text, entry) if edit is None else _changed_entry(text, entry, edit))
        reached = entry.node.end
    known = {entry.key for entry in node.entries}
    fresh = ", ".join(f"{key_text(key)}: {value_text(edit)}" for key, edit in todo.items() if key not in known)
    if result:
        return "{" + result + (", " if fresh else "") + fresh + text[reached : node.end]
    return "{" + opening + fresh + (opening if fresh else "") + "}"


def _source(text: str, entry: Entry) -> str:
    return text[entry.key_start : entry.node.end]


def _changed_entry(text: str, entry: Entry, edit: PendingEdits | Edit) -> str:
    refuse_entry(text, entry, edit)
    key = text[entry.key_start : entry.key_end]
    node = entry.node
    if isinstance(edit, (AppendItem, ItemRemoval)):
        return _with_list(text, entry, edit)
    if isinstance(edit, list) and node.kind is Kind.SEQUENCE:
        return _with_list(text, entry, edit)
    if not isinstance(edit, dict):
        return f"{key}: {value_text(edit, text[node.start : node.end])}"
    if node.kind is Kind.MAPPING:
        return text[entry.key_start : node.start] + flow_mapping(text, node, edit)
    return f"{key}: {value_text(edit)}"


def _with_list(text: str, entry: Entry, edit: AppendItem | ItemRemoval | list[Item]) -> str:
    after = apply_splices(text, bracket_list_splices(text, entry.node, edit))
    return after[entry.key_start : entry.node.end + len(after) - len(text)]


_DOCUMENT_END = re.compile(r"^\.\.\.(?=\s|\Z)", re.MULTILINE)


def _unchanged(text: str) -> str:
    return text


def edit_yaml(text: str, changes: Changes, finish: Callable[[str], str] = _unchanged) -> str:
    """The text with ``changes`` (by paths of keys) applied; then ``finish`` may change its form, not its values.

    A new key follows the last key of its mapping and the comments that are indented deeper than it; comments and
    blank lines at the end of the document stay at the end. In a text without keys it follows the last comment.
    A new mapping is indented like the file's first nested one, or by two spaces.
    REMOVE deletes a key, and its mapping if that becomes empty; braces and a mapping with comments in it stay.
    Raises ParseError, UnsupportedEdit or EditError. Returns the same text if all values are as desired.
    """
    before = read_yaml(text)
    todo = missing_edits(before, to_tree(changes))
    if not todo:
        finished = finish(text)
        return text if finished == text else require_document(finished, before, read_yaml)
    envelope, body = Envelope.of(text)
    root = parse_nodes(body)
    todo = prune_emptied(before, todo, lambda path: emptied_mapping(body, root, path))
    after = apply_splices(body, _document(body, root, todo))
    return require_document(finish(envelope.around(after)), apply_edits(before, todo), read_yaml)


def _document(text: str, root: Node | None, todo: PendingEdits) -> Iterator[Splice]:
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


def mapping_splices(style: Style, node: Node, todo: PendingEdits) -> Iterator[Splice]:
    """The splices for ``todo`` in one mapping of the text."""
    text = style.text
    if node.flow:
        yield Splice(node.start, node.end, flow_mapping(text, node, todo))
        return
    refuse_mapping(text, node)
    for entry in node.entries:
        if entry.key in todo:
            yield from _entry(style, entry, todo[entry.key])
    known = {entry.key for entry in node.entries}
    fresh = {key: edit for key, edit in todo.items() if key not in known}
    if fresh:
        at = end_of_block(text, node, column(text, node))
        yield Splice(at, at, style.lines(fresh, column(text, node), line_end_style(text, at)))


def _entry(style: Style, entry: Entry, edit: PendingEdits | Edit) -> Iterator[Splice]:
    text = style.text
    refuse_entry(text, entry, edit)
    colon = colon_end(text, entry)
    if isinstance(edit, Removal):
        yield from removal_splices(text, entry, edit)
    elif isinstance(edit, (AppendItem, ItemRemoval)):
        node = entry.node
        yield from bracket_list_splices(text, node, edit) if node.flow else block_list_splices(style, node, colon, edit)
    elif not isinstance(edit, dict):
        yield from _replacement(style, entry.node, colon, edit)
    elif entry.node.kind is Kind.MAPPING:
        yield from mapping_splices(style, entry.node, edit)
    else:
        yield from _new_mapping(style, entry, colon, edit)


def _replacement(style: Style, node: Node, colon: int, edit: Edit) -> Iterator[Splice]:
    text = style.text
    if node.kind is Kind.SEQUENCE and not node.flow:
        if isinstance(edit, list) and edit:
            yield replaced_block_list(style, node, edit, mapping_splices)
        else:
            yield Splice(colon, colon, " " + value_text(edit))
            yield Splice(line_start(text, node.start), line_end(text, node.end), "")
    elif node.kind is Kind.SEQUENCE and isinstance(edit, list):
        yield from bracket_list_splices(text, node, edit)
    elif node.start == node.end:
        yield Splice(colon, colon, " " + value_text(edit))
    else:
        old = text[node.start : node.end].rstrip()
        comment = _header_comment(old) if node.style in ("|", ">") else ""
        yield Splice(node.start, node.start + len(old), value_text(edit, old) + comment)


def _header_comment(block_scalar: str) -> str:
    """The comment behind `|` or `>`, with the whitespace before it."""
    header = block_scalar.split(NEWLINE, 1)[0].rstrip()
    before, mark, _comment = header.partition("#")
    return header[len(before.rstrip()) :] if mark else ""


def _new_mapping(style: Style, entry: Entry, colon: int, edits: PendingEdits) -> Iterator[Splice]:
    """Write keys below a key that has no value, or `null`."""
    text = style.text
    yield Splice(colon, entry.node.end, "")
    at = line_end(text, entry.key_end)
    indent = entry.key_start - line_start(text, entry.key_start) + style.mapping
    yield Splice(at, at, style.lines(edits, indent, line_end_style(text, at)))
