# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which item of a list becomes which item of the list that replaces it, so that it keeps its lines and comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .document_changes import differing_path


def match_items(before: Sequence[Any], after: Sequence[Any]) -> list[int | None]:
    """For each new item the index of the old one that it takes over; None for an item that is added.

    That is the first old item with the same value; else, for a mapping, one with an equal entry; else the old item at
    the same place behind the same neighbour.
    """
    matches: list[int | None] = [None] * len(after)
    unused = list(range(len(before)))

    def take(place: int, index: int) -> None:
        matches[place] = index
        unused.remove(index)

    for place, value in enumerate(after):
        same = next((index for index in unused if differing_path(before[index], value) is None), None)
        if same is not None:
            take(place, same)
    for place, value in enumerate(after):
        similar = next((index for index in unused if _share_an_entry(before[index], value)), None)
        if matches[place] is None and similar is not None:
            take(place, similar)
    for place in range(len(after)):
        previous = -1 if place == 0 else matches[place - 1]
        if matches[place] is None and previous is not None and previous + 1 in unused:
            take(place, previous + 1)
    return matches


def _share_an_entry(first: Any, second: Any) -> bool:
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return False
    return any(key in first and differing_path(first[key], value) is None for key, value in second.items())
