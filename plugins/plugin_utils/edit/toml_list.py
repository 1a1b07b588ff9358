# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One item more or less in a TOML array."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .array_splice import Array, appended, without
from .changes import Append, Dropped
from .errors import UnsupportedEdit
from .lines import line_number
from .splice import Splice
from .toml_value import quote_of, value_end, value_text

_BETWEEN = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")


def list_splices(text: str, start: int, end: int, key: str, want: Append | Dropped) -> Iterator[Splice]:
    """The change of the array at text[start:end]; UnsupportedEdit when it is none."""
    line = line_number(text, start)
    if text[start] != "[":
        raise UnsupportedEdit(f"{key} is not a list", line, "Correct or delete this key")
    array = Array(text, start, end, tuple(_items(text, start + 1)))
    if isinstance(want, Append):
        yield from appended(array, value_text(want.item, quote_of(text[start:end])))
    elif len(want.places) != 1:
        raise UnsupportedEdit(f"{key} holds an item twice", line, "Keep one of the two")
    else:
        yield from without(array, want.places[0])


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where each item stands; ``at`` is behind the opening bracket."""
    while True:
        between = _BETWEEN.match(text, at)
        start = between.end() if between else at
        if text[start] == "]":
            return
        at = value_end(text, start)
        yield start, at
