# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the wanted values a document still lacks, and the document that must come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Final

from .changes import EMPTIED, REMOVE, Append, Dropped, Edit, Item, Path, Removal, Todo, Tree, Wanted, Without

_ABSENT: Final = object()


class Fate(Enum):
    """What becomes of a mapping that loses its last key: it goes, it stays empty, or its key stays without a value."""

    GOES = auto()
    STAYS = auto()
    NULL = auto()


def needed(document: Mapping[str, Any], wanted: Tree) -> Todo:
    """The part of ``wanted`` that the document lacks."""
    left: Todo = {}
    for key, want in wanted.items():
        have = document.get(key, _ABSENT)
        rest = _needed_below(have, want) if isinstance(want, dict) else _needed_value(have, want)
        if rest is not None and rest != {}:
            left[key] = rest
    return left


def _needed_below(have: Any, wanted: Tree) -> Todo:
    return needed(have if isinstance(have, dict) else {}, wanted)


def _needed_value(have: Any, want: Wanted) -> Edit | None:
    absent = have is _ABSENT
    if isinstance(want, Removal):
        return None if absent else want
    if isinstance(want, Append):
        if absent or have is None:
            return [want.item]
        return None if _places(have, want.item) else want
    if isinstance(want, Without):
        places = _places(have, want.item)
        return Dropped(places) if places or not (absent or have is None or isinstance(have, list)) else None
    return want if absent or difference(have, want) is not None else None


def _places(values: Any, item: Item) -> tuple[int, ...]:
    """Where a list holds the item."""
    if not isinstance(values, list):
        return ()
    return tuple(place for place, each in enumerate(values) if difference(each, item) is None)


def pruned(document: Mapping[str, Any], todo: Todo, emptied: Callable[[Path], Fate], above: Path = ()) -> Todo:
    """``todo`` with the fate of each mapping that it empties: the key goes, or stays with empty braces or with null."""
    result: Todo = {}
    for key, want in todo.items():
        have = document.get(key)
        if isinstance(want, dict) and isinstance(have, dict):
            path = (*above, key)
            below = pruned(have, want, emptied, path)
            gone = 0 < len(have) == len(below) and all(each is REMOVE for each in below.values())
            fate = emptied(path) if gone else Fate.STAYS
            fates: dict[Fate, Todo | Edit] = {Fate.GOES: REMOVE, Fate.NULL: EMPTIED, Fate.STAYS: below}
            result[key] = fates[fate]
        else:
            result[key] = want
    return result


def applied(document: Mapping[str, Any], todo: Todo) -> dict[str, Any]:
    """A new document with ``todo`` in it, as returned by ``needed`` or ``pruned``."""
    result = dict(document)
    for key, want in todo.items():
        if want is REMOVE:
            del result[key]
        elif want is EMPTIED:
            result[key] = None
        elif isinstance(want, dict):
            result[key] = applied(result.get(key) or {}, want)
        elif isinstance(want, Append):
            result[key] = [*result[key], want.item]
        elif isinstance(want, Dropped):
            result[key] = [each for place, each in enumerate(result[key]) if place not in want.places]
        else:
            result[key] = want
    return result


def difference(first: Any, second: Any) -> Path | None:
    """Path of a value that differs in type or content; None when both are the same. Order of keys does not count."""
    if type(first) is not type(second):
        return ()
    if isinstance(first, dict):
        return _mapping_difference(first, second)
    if isinstance(first, list):
        if len(first) != len(second):
            return ()
        return next((() for one, other in zip(first, second, strict=True) if difference(one, other) is not None), None)
    same = first == second or (_is_nan(first) and _is_nan(second))
    return None if same else ()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _mapping_difference(first: dict[str, Any], second: dict[str, Any]) -> Path | None:
    for key in first.keys() | second.keys():
        if key not in first or key not in second:
            return (key,)
        below = difference(first[key], second[key])
        if below is not None:
            return (key, *below)
    return None
