# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a document: values, list items and removals by path, what it lacks of them, and the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

Path: TypeAlias = tuple[str, ...]
Scalar: TypeAlias = str | bool | int | float
Item: TypeAlias = "Scalar | Sequence[Item] | Mapping[str, Item]"
Value: TypeAlias = Scalar | Sequence["Item"]


class Removal(Enum):
    """The wish that a key be absent; EMPTIED, which only editors use, leaves the key without a value."""

    REMOVE = "remove"
    EMPTIED = "emptied"

    def __str__(self) -> str:
        return "absent"


REMOVE: Final = Removal.REMOVE
EMPTIED: Final = Removal.EMPTIED


@dataclass(frozen=True)
class AppendItem:
    """The wish that a list hold ``item``, whatever else it holds; a list that is not there is made."""

    item: Item

    def __str__(self) -> str:
        return f"with {self.item}"


@dataclass(frozen=True)
class RemoveItem:
    """The wish that a list not hold ``item``; the rest of it stays, be it empty."""

    item: Item

    def __str__(self) -> str:
        return f"without {self.item}"


@dataclass(frozen=True)
class ItemRemoval:
    """What ``RemoveItem`` results in in a document: the places of the item in the list."""

    places: tuple[int, ...]


DesiredValue: TypeAlias = "Value | Removal | AppendItem | RemoveItem"
Edit: TypeAlias = "Value | Removal | AppendItem | ItemRemoval"
Changes: TypeAlias = Mapping[Path, DesiredValue]
Tree: TypeAlias = "dict[str, Tree | DesiredValue]"
PendingEdits: TypeAlias = "dict[str, PendingEdits | Edit]"


def _builtin(value: Any) -> DesiredValue:
    """``value`` as an exact builtin: ansible-core 2.19 hands over tagged subclasses."""
    if isinstance(value, AppendItem):
        return AppendItem(_item(value.item))
    if isinstance(value, RemoveItem):
        return RemoveItem(_item(value.item))
    if value is REMOVE:
        return REMOVE
    if isinstance(value, Mapping):
        raise TypeError("not a value for a configuration file: name the settings in a mapping one by one")
    return _item(value)  # type: ignore[return-value]


def _item(value: Any) -> Item:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (list, tuple)):
        return [_item(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str.__str__(key): _item(below) for key, below in value.items()}
    raise TypeError(f"not a value for a configuration file: {type(value).__name__}")


def to_tree(changes: Changes) -> Tree:
    """The changes as nested dicts; ValueError when one path is empty or leads through another."""
    root: Tree = {}
    for path, value in changes.items():
        if not path:
            raise ValueError("a change needs a path of at least one key")
        branch = root
        for key in path[:-1]:
            below = branch.setdefault(str.__str__(key), {})
            if not isinstance(below, dict):
                raise ValueError(f"two changes overlap at {dotted_path(path)}")
            branch = below
        if path[-1] in branch:
            raise ValueError(f"two changes overlap at {dotted_path(path)}")
        branch[str.__str__(path[-1])] = _builtin(value)
    return root


def dotted_path(path: Path) -> str:
    """A path of keys as messages show it."""
    return ".".join(path)


_ABSENT: Final = object()


class EmptiedMapping(Enum):
    """What becomes of a mapping that loses its last key: it goes, it stays empty, or its key stays without a value."""

    GOES = auto()
    STAYS = auto()
    NULL = auto()


def missing_edits(document: Mapping[str, Any], wanted: Tree) -> PendingEdits:
    """The part of ``wanted`` that the document lacks."""
    left: PendingEdits = {}
    for key, want in wanted.items():
        have = document.get(key, _ABSENT)
        rest = _missing_below(have, want) if isinstance(want, dict) else _missing_value(have, want)
        if rest is not None and rest != {}:
            left[key] = rest
    return left


def _missing_below(have: Any, wanted: Tree) -> PendingEdits:
    return missing_edits(have if isinstance(have, dict) else {}, wanted)


def _missing_value(have: Any, want: DesiredValue) -> Edit | None:
    absent = have is _ABSENT
    if isinstance(want, Removal):
        return None if absent else want
    if isinstance(want, AppendItem):
        if absent or have is None:
            return [want.item]
        return None if _places(have, want.item) else want
    if isinstance(want, RemoveItem):
        places = _places(have, want.item)
        return ItemRemoval(places) if places or not (absent or have is None or isinstance(have, list)) else None
    return want if absent or differing_path(have, want) is not None else None


def _places(values: Any, item: Item) -> tuple[int, ...]:
    """Where a list holds the item."""
    if not isinstance(values, list):
        return ()
    return tuple(place for place, each in enumerate(values) if differing_path(each, item) is None)


def prune_emptied(
    document: Mapping[str, Any], todo: PendingEdits, emptied: Callable[[Path], EmptiedMapping], above: Path = ()
) -> PendingEdits:
    """``todo`` with the fate of each mapping that it empties: the key goes, or stays with empty braces or with null."""
    result: PendingEdits = {}
    for key, want in todo.items():
        have = document.get(key)
        if isinstance(want, dict) and isinstance(have, dict):
            path = (*above, key)
            below = prune_emptied(have, want, emptied, path)
            gone = 0 < len(have) == len(below) and all(each is REMOVE for each in below.values())
            fate = emptied(path) if gone else EmptiedMapping.STAYS
            fates: dict[EmptiedMapping, PendingEdits | Edit] = {
                EmptiedMapping.GOES: REMOVE,
                EmptiedMapping.NULL: EMPTIED,
                EmptiedMapping.STAYS: below,
            }
            result[key] = fates[fate]
        else:
            result[key] = want
    return result


def apply_edits(document: Mapping[str, Any], todo: PendingEdits) -> dict[str, Any]:
    """A new document with ``todo`` in it, as returned by ``missing_edits`` or ``prune_emptied``."""
    result = dict(document)
    for key, want in todo.items():
        if want is REMOVE:
            del result[key]
        elif want is EMPTIED:
            result[key] = None
        elif isinstance(want, dict):
            result[key] = apply_edits(result.get(key) or {}, want)
        elif isinstance(want, AppendItem):
            result[key] = [*result[key], want.item]
        elif isinstance(want, ItemRemoval):
            result[key] = [each for place, each in enumerate(result[key]) if place not in want.places]
        else:
            result[key] = want
    return result


def differing_path(first: Any, second: Any) -> Path | None:
    """Path of a value that differs in type or content; None when both are the same. Order of keys does not count."""
    if type(first) is not type(second):
        return ()
    if isinstance(first, dict):
        return _mapping_difference(first, second)
    if isinstance(first, list):
        if len(first) != len(second):
            return ()
        return next(
            (() for one, other in zip(first, second, strict=True) if differing_path(one, other) is not None), None
        )
    same = first == second or (_is_nan(first) and _is_nan(second))
    return None if same else ()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _mapping_difference(first: dict[str, Any], second: dict[str, Any]) -> Path | None:
    for key in first.keys() | second.keys():
        if key not in first or key not in second:
            return (key,)
        below = differing_path(first[key], second[key])
        if below is not None:
            return (key, *below)
    return None
