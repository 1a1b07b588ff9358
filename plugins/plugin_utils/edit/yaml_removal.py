# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking YAML keys out, and what becomes of the mapping around them when it has no key left."""

from __future__ import annotations

from collections.abc import Iterator

from .changes import EMPTIED, Path, Removal
from .document import Fate
from .lines import line_end, line_start
from .splice import Splice
from .yaml_nodes import Entry, Kind, Node, end_of_block
from .yaml_refusals import colon_end


def emptied(text: str, root: Node | None, path: Path) -> Fate:
    """The fate of the mapping at ``path``.

    Braces on a line of their own are not written by us, nor are comments: who wrote them, wanted the key.
    """
    outer, entry = root, None
    for key in path:
        if entry is not None:
            outer = entry.node
        entry = next((each for each in outer.entries if each.key == key), None) if outer else None
    if entry is None or outer is None or entry.node.kind is not Kind.MAPPING:
        return Fate.GOES
    if entry.node.flow:
        return Fate.GOES if outer.flow else Fate.STAYS
    return Fate.NULL if _has_comments(text, entry) else Fate.GOES


def removed(text: str, entry: Entry, how: Removal) -> Iterator[Splice]:
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
