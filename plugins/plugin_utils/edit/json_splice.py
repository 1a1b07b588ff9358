# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes values of a JSON text; all bytes but those of changed values, new members and their commas stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .changes import Append, Changes, Dropped, Edit, Path, Removal, Todo, tree
from .document import Fate, applied, needed, pruned
from .json_layout import Layout, indentation, spans
from .json_nodes import located_json
from .lines import NEWLINE
from .read_json import read_json
from .splice import Splice, proven, spliced
from .yaml_nodes import Entry, Kind, Node
from .yaml_refusals import refuse_entry


def edit_json(text: str, changes: Changes, read: Callable[[str], dict[str, Any]] = read_json) -> str:
    """The text with the wishes of ``changes`` (by paths of keys) fulfilled; ``read`` may explain errors better.

    A new member follows the last one of its object or array, in the layout of those that are there. REMOVE takes a key
    out, and the object that it was the last key of.
    ParseError, UnsupportedEdit or EditError leave no text; values that are right already leave it as it is.
    """
    before = read(text)
    todo = needed(before, tree(changes))
    if not todo:
        return text
    todo = pruned(before, todo, _goes)
    root = located_json(text)
    after = spliced(text, _object(text, Layout.of(text, root), root, todo))
    return proven(after, applied(before, todo), read)


def _goes(_path: Path) -> Fate:
    return Fate.GOES


def _object(text: str, layout: Layout, node: Node, todo: Todo) -> Iterator[Splice]:
    """What ``todo`` changes in one object."""
    gone = set()
    for index, entry in enumerate(node.entries):
        want = todo.get(entry.key)
        if isinstance(want, Removal):
            gone.add(index)
        elif want is not None:
            yield from _changed(text, layout, entry, want)
    known = {entry.key for entry in node.entries}
    indent = _inner_indentation(text, layout, node)
    fresh = [layout.member(key, want, indent) for key, want in todo.items() if key not in known]
    yield from _members(text, layout, node, gone, fresh)


def _changed(text: str, layout: Layout, entry: Entry, want: Todo | Edit) -> Iterator[Splice]:
    refuse_entry(text, entry, want)
    node = entry.node
    indent = indentation(text, entry.key_start)
    if isinstance(want, Append):
        item = layout.value(want.item, _inner_indentation(text, layout, node))
        yield from _members(text, layout, node, set(), [item])
    elif isinstance(want, Dropped):
        yield from _members(text, layout, node, set(want.places), [])
    elif isinstance(want, dict) and node.kind is Kind.MAPPING:
        yield from _object(text, layout, node, want)
    else:
        yield Splice(node.start, node.end, layout.like(text, node).value(want, indent))


def _members(text: str, layout: Layout, node: Node, gone: set[int], fresh: Sequence[str]) -> Iterator[Splice]:
    """Members out of an object or array, and new ones behind its last."""
    members = spans(node)
    if not members:
        if fresh:
            yield Splice(node.start, node.end, _filled(text, layout, node, fresh))
        return
    separator = _separator(text, layout, node)
    if fresh and len(gone) == len(members):
        yield Splice(members[0][0], members[-1][1], separator.join(fresh))
        return
    yield from _removed(text, node, gone)
    if fresh:
        yield Splice(members[-1][1], members[-1][1], "".join(separator + each for each in fresh))


def _removed(text: str, node: Node, gone: set[int]) -> Iterator[Splice]:
    """Each member with the comma before it; those at the beginning with the commas behind them."""
    members = spans(node)
    kept = [index for index in range(len(members)) if index not in gone]
    if gone and not kept:
        yield Splice(node.start, node.end, text[node.start] + text[node.end - 1])
    elif gone:
        if kept[0]:
            yield Splice(members[0][0], members[kept[0]][0], "")
        for index in sorted(gone):
            if index > kept[0]:
                yield Splice(members[index - 1][1], members[index][1], "")


def _filled(text: str, layout: Layout, node: Node, fresh: Sequence[str]) -> str:
    """A collection that was empty, with its first members."""
    own = layout.like(text, node)
    inside = "" if node.kind in own.lines else text[node.start + 1 : node.end - 1]
    members = own.joined(node.kind, fresh, indentation(text, node.start))
    return f"{text[node.start]}{inside}{members}{inside}{text[node.end - 1]}"


def _inner_indentation(text: str, layout: Layout, node: Node) -> str:
    """The indentation of the line in which a new member stands."""
    members = spans(node)
    if members:
        return indentation(text, members[-1][0])
    return layout.like(text, node).inner(node.kind, indentation(text, node.start))


def _separator(text: str, layout: Layout, node: Node) -> str:
    """What stands between the last member and a new one: as between the last two, without empty lines."""
    members = spans(node)
    if len(members) > 1:
        before, _comma, behind = text[members[-2][1] : members[-1][0]].partition(",")
    else:
        before, behind = "", text[node.start + 1 : members[0][0]]
        if NEWLINE not in behind:
            return layout.comma
    return f"{_one_line(layout, before)},{_one_line(layout, behind)}"


def _one_line(layout: Layout, whitespace: str) -> str:
    """Whitespace with at most one line end in it."""
    _before, newline, indent = whitespace.rpartition(NEWLINE)
    return layout.end + indent if newline else whitespace
