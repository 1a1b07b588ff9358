# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One item more or less in a YAML list, in brackets or with dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .array_splice import Array, appended, without
from .changes import Append, Dropped
from .errors import UnsupportedEdit
from .lines import line_end, line_end_style, line_number, line_start
from .splice import Splice
from .yaml_block import Style
from .yaml_nodes import Node, column
from .yaml_scalar import value_text

_DASH = re.compile(r"[ \t]*-[ \t]+")


def in_brackets(text: str, node: Node, want: Append | Dropped) -> Iterator[Splice]:
    """The change of a list in brackets."""
    array = Array(text, node.start, node.end, tuple((item.start, item.end) for item in node.items))
    if isinstance(want, Append):
        yield from appended(array, value_text(want.item))
    else:
        yield from without(array, want.places[0])


def with_dashes(style: Style, node: Node, colon: int, want: Append | Dropped) -> Iterator[Splice]:
    """The change of a block list; one that is emptied becomes `[]`."""
    text = style.text
    if isinstance(want, Append):
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
