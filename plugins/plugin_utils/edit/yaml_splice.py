# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes values of a YAML text line by line; comments, order, quotes and line ends of all other lines stay.

What no splice touches is refused, each shape with its line and what to do about it.
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
    Array,
    Envelope,
    Splice,
    append_to_array,
    apply_splices,
    line_end,
    line_end_style,
    line_number,
    line_start,
    remove_from_array,
    require_document,
)
from .text_errors import UnsupportedEdit
from .yaml_syntax import COLON, MERGE, Entry, Kind, Node, Style, column, end_of_block, key_text, parse_nodes, value_text

_MARKS = ("&", "*", "!")


def is_null(node: Node) -> bool:
    """Whether a value is absent, `~` or `null`."""
    return node.kind is Kind.SCALAR and not node.style and resolve_plain(node.text) is None


def is_marked(text: str, node: Node) -> bool:
    """Whether an anchor, alias or tag makes the value more than what is written."""
    return node.alias or text.startswith(_MARKS, node.start)


def refuse_root(text: str, root: Node) -> None:
    """UnsupportedEdit unless keys can be added to the document."""
    if root.kind is not Kind.MAPPING or text[root.start] in _MARKS:
        raise UnsupportedEdit(
            "the document is an explicit null, or has an anchor or tag",
            line_number(text, root.start),
            "Leave the mapping of keys alone in the document",
        )


def refuse_mapping(text: str, node: Node) -> None:
    """UnsupportedEdit for a mapping whose content comes from, or goes, elsewhere."""
    for entry in node.entries:
        if entry.key == MERGE:
            line = line_number(text, entry.key_start)
            raise UnsupportedEdit("a merge key (<<) adds to this mapping", line, "Write the merged keys out")
    if not node.flow:
        return
    if NEWLINE in text[node.start : node.end]:
        raise UnsupportedEdit(
            "a mapping in braces goes on for several lines (is the file JSON?)",
            line_number(text, node.start),
            "Write it on one line, or one key a line without braces",
        )
    if any(entry.node.alias for entry in node.entries):
        raise UnsupportedEdit("a YAML alias stands in these braces", line_number(text, node.start), "Write it out")


def refuse_entry(text: str, entry: Entry, want: PendingEdits | Edit) -> None:
    """UnsupportedEdit when the value is marked, or is no mapping where one is needed, or the other way round."""
    node = entry.node
    line = line_number(text, entry.key_start)
    if is_marked(text, node):
        raise UnsupportedEdit(f"{entry.key} holds a YAML anchor, alias or tag", line, "Write its value out plainly")
    if isinstance(want, dict):
        if node.kind is not Kind.MAPPING and not is_null(node):
            raise UnsupportedEdit(f"{entry.key} is not a mapping", line, "Correct or delete this key")
    elif isinstance(want, (AppendItem, ItemRemoval)):
        if node.kind is not Kind.SEQUENCE:
            raise UnsupportedEdit(f"{entry.key} is not a list", line, "Correct or delete this key")
        if isinstance(want, ItemRemoval):
            _refuse_item(text, entry, want)
    elif not isinstance(want, Removal) and node.kind is Kind.MAPPING:
        raise UnsupportedEdit(f"{entry.key} holds a mapping, not a plain value", line, "Delete or correct this key")


def colon_end(text: str, entry: Entry) -> int:
    """Index behind the colon of a key; UnsupportedEdit unless both stand in one line that the key begins."""
    colon = COLON.match(text, entry.key_end)
    if text[line_start(text, entry.key_start) : entry.key_start].strip() or colon is None:
        line = line_number(text, entry.key_start)
        raise UnsupportedEdit(f"{entry.key} does not begin its line", line, "Write it as a plain 'key: value' line")
    return colon.end()


def _refuse_item(text: str, entry: Entry, want: ItemRemoval) -> None:
    line = line_number(text, entry.key_start)
    if len(want.places) != 1:
        raise UnsupportedEdit(f"{entry.key} holds an item twice", line, "Keep one of the two")
    item = entry.node.items[want.places[0]]
    if is_marked(text, item) or item.start == item.end:
        line = line_number(text, item.start)
        raise UnsupportedEdit(f"an item of {entry.key} is not written plainly", line, "Write it out, or take it out")


def emptied_mapping(text: str, root: Node | None, path: Path) -> EmptiedMapping:
    """The fate of the mapping at ``path``.

    Braces on a line of their own are not written by us, nor are comments: who wrote them, wanted the key.
    """
    outer, entry = root, None
    for key in path:
        if entry is not None:
            outer = entry.node
        entry = next((each for each in outer.entries if each.key == key), None) if outer else None
    if entry is None or outer is None or entry.node.kind is not Kind.MAPPING:
        return EmptiedMapping.GOES
    if entry.node.flow:
        return EmptiedMapping.GOES if outer.flow else EmptiedMapping.STAYS
    return EmptiedMapping.NULL if _has_comments(text, entry) else EmptiedMapping.GOES


def removal_splices(text: str, entry: Entry, how: Removal) -> Iterator[Splice]:
    """The lines of a key gone, or with EMPTIED those of the keys in its mapping."""
    for gone in entry.node.entries if how is EMPTIED else (entry,):
        colon_end(text, gone)
        yield Splice(line_start(text, gone.key_start), line_end(text, gone.node.end), "")


def _has_comments(text: str, entry: Entry) -> bool:
    """Whether comments belong to a block mapping as such, and not to one of its keys."""
    reached = entry.key_end
    for each in entry.node.entries:
        if "#" in text[reached : each.key_start]:
            return True
        reached = line_end(text, each.node.end)
    indent = entry.key_start - line_start(text, entry.key_start)
    return end_of_block(text, entry.node, indent) > reached


_DASH = re.compile(r"[ \t]*-[ \t]+")


def bracket_list_splices(text: str, node: Node, want: AppendItem | ItemRemoval) -> Iterator[Splice]:
    """The change of a list in brackets."""
    array = Array(text, node.start, node.end, tuple((item.start, item.end) for item in node.items))
    if isinstance(want, AppendItem):
        yield from append_to_array(array, value_text(want.item))
    else:
        yield from remove_from_array(array, want.places[0])


def block_list_splices(style: Style, node: Node, colon: int, want: AppendItem | ItemRemoval) -> Iterator[Splice]:
    """The change of a block list; one that is emptied becomes `[]`."""
    text = style.text
    if isinstance(want, AppendItem):
        at = line_end(text, node.end)
        yield Splice(at, at, style.dashes([want.item], column(text, node), line_end_style(text, at)))
        return
    item = node.items[want.places[0]]
    begin = line_start(text, item.start)
    dash = _DASH.match(text, begin)
    if dash is None or dash.end() != item.start:
        line = line_number(text, item.start)
        raise UnsupportedEdit("a list item does not follow its own dash", line, "Write it as a plain '- item' line")
    if len(node.items) == 1:
        yield Splice(colon, colon, " []")
    yield Splice(begin, line_end(text, item.end), "")


def flow_mapping(text: str, node: Node, todo: PendingEdits) -> str:
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
            result += before + (_source(text, entry) if want is None else _changed_entry(text, entry, want))
        reached = entry.node.end
    known = {entry.key for entry in node.entries}
    fresh = ", ".join(f"{key_text(key)}: {value_text(want)}" for key, want in todo.items() if key not in known)
    if result:
        return "{" + result + (", " if fresh else "") + fresh + text[reached : node.end]
    return "{" + opening + fresh + (opening if fresh else "") + "}"


def _source(text: str, entry: Entry) -> str:
    return text[entry.key_start : entry.node.end]


def _changed_entry(text: str, entry: Entry, want: PendingEdits | Edit) -> str:
    refuse_entry(text, entry, want)
    key = text[entry.key_start : entry.key_end]
    node = entry.node
    if isinstance(want, (AppendItem, ItemRemoval)):
        return _with_list(text, entry, want)
    if not isinstance(want, dict):
        return f"{key}: {value_text(want, text[node.start : node.end])}"
    if node.kind is Kind.MAPPING:
        return text[entry.key_start : node.start] + flow_mapping(text, node, want)
    return f"{key}: {value_text(want)}"


def _with_list(text: str, entry: Entry, want: AppendItem | ItemRemoval) -> str:
    after = apply_splices(text, bracket_list_splices(text, entry.node, want))
    return after[entry.key_start : entry.node.end + len(after) - len(text)]


_DOCUMENT_END = re.compile(r"^\.\.\.(?=\s|\Z)", re.MULTILINE)


def _unchanged(text: str) -> str:
    return text


def edit_yaml(text: str, changes: Changes, finish: Callable[[str], str] = _unchanged) -> str:
    """The text with the wishes of ``changes`` (by paths of keys) fulfilled, then changed by ``finish`` in form alone.

    A new key follows the last key of its mapping, and the comments that are indented deeper than it; comments and
    blank lines at the end of the document stay at the end. In a text without keys it follows the last comment.
    A new mapping is indented as the file's first nested one, by two where there is none.
    REMOVE takes a key out, and the mapping that it was the last key of; braces and a mapping with comments in it stay.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
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


def _entry(style: Style, entry: Entry, want: PendingEdits | Edit) -> Iterator[Splice]:
    text = style.text
    refuse_entry(text, entry, want)
    colon = colon_end(text, entry)
    if isinstance(want, Removal):
        yield from removal_splices(text, entry, want)
    elif isinstance(want, (AppendItem, ItemRemoval)):
        node = entry.node
        yield from bracket_list_splices(text, node, want) if node.flow else block_list_splices(style, node, colon, want)
    elif not isinstance(want, dict):
        yield from _replacement(style, entry.node, colon, want)
    elif entry.node.kind is Kind.MAPPING:
        yield from mapping_splices(style, entry.node, want)
    else:
        yield from _new_mapping(style, entry, colon, want)


def _replacement(style: Style, node: Node, colon: int, want: Edit) -> Iterator[Splice]:
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


def _new_mapping(style: Style, entry: Entry, colon: int, want: PendingEdits) -> Iterator[Splice]:
    """Keys under a key that has no value yet, or `null`."""
    text = style.text
    yield Splice(colon, entry.node.end, "")
    at = line_end(text, entry.key_end)
    indent = entry.key_start - line_start(text, entry.key_start) + style.mapping
    yield Splice(at, at, style.lines(want, indent, line_end_style(text, at)))
