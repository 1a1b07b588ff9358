# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Desired values of a document by path: which of them the document lacks, and the document after the edits."""

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
    """Delete a key; EMPTIED, which only editors use, keeps the key without a value."""

    REMOVE = "remove"
    EMPTIED = "emptied"

    def __str__(self) -> str:
        return "absent"


REMOVE: Final = Removal.REMOVE
EMPTIED: Final = Removal.EMPTIED


@dataclass(frozen=True)
class AppendItem:
    """The list must contain ``item``, other items stay; a missing list is created."""

    item: Item

    def __str__(self) -> str:
        return f"with {self.item}"


@dataclass(frozen=True)
class RemoveItem:
    """The list must not contain ``item``; other items stay, and so does an empty list."""

    item: Item

    def __str__(self) -> str:
        return f"without {self.item}"


@dataclass(frozen=True)
class ItemRemoval:
    """``RemoveItem`` applied to a document: the indexes of the item in the list."""

    places: tuple[int, ...]


DesiredValue: TypeAlias = "Value | Removal | AppendItem | RemoveItem"
Edit: TypeAlias = "Value | Removal | AppendItem | ItemRemoval"
Changes: TypeAlias = Mapping[Path, DesiredValue]
Tree: TypeAlias = "dict[str, Tree | DesiredValue]"
PendingEdits: TypeAlias = "dict[str, PendingEdits | Edit]"


def _builtin(value: Any) -> DesiredValue:
    """``value`` as an exact builtin: ansible-core 2.19 passes tagged subclasses."""
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
    """The changes as nested dicts; ValueError when a path is empty or one path is the beginning of another."""
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
    """A path of keys in the form that messages use."""
    return ".".join(path)


_ABSENT: Final = object()


class EmptiedMapping(Enum):
    """What to do with a mapping that loses its last key: delete it, keep it empty, or keep its key without a value."""

    DELETE = auto()
    KEEP = auto()
    NULL = auto()


def missing_edits(document: Mapping[str, Any], desired: Tree) -> PendingEdits:
    """The part of ``desired`` that the document lacks."""
    pending: PendingEdits = {}
    for key, value in desired.items():
        current = document.get(key, _ABSENT)
        missing = _missing_below(current, value) if isinstance(value, dict) else _missing_value(current, value)
        if missing is not None and missing != {}:
            pending[key] = missing
    return pending


def _missing_below(current: Any, desired: Tree) -> PendingEdits:
    return missing_edits(current if isinstance(current, dict) else {}, desired)


def _missing_value(current: Any, desired: DesiredValue) -> Edit | None:
    absent = current is _ABSENT
    if isinstance(desired, Removal):
        return None if absent else desired
    if isinstance(desired, AppendItem):
        if absent or current is None:
            return [desired.item]
        return None if _places(current, desired.item) else desired
    if isinstance(desired, RemoveItem):
        places = _places(current, desired.item)
        return ItemRemoval(places) if places or not (absent or current is None or isinstance(current, list)) else None
    return desired if absent or differing_path(current, desired) is not None else None


def _places(values: Any, item: Item) -> tuple[int, ...]:
    """The indexes at which a list contains the item."""
    if not isinstance(values, list):
        return ()
    return tuple(place for place, value in enumerate(values) if differing_path(value, item) is None)


def prune_emptied(
    document: Mapping[str, Any], todo: PendingEdits, emptied: Callable[[Path], EmptiedMapping], above: Path = ()
) -> PendingEdits:
    """``todo`` with an edit for each mapping that it empties: delete the key, or keep it with empty braces or null."""
    result: PendingEdits = {}
    for key, edit in todo.items():
        current = document.get(key)
        if isinstance(edit, dict) and isinstance(current, dict):
            path = (*above, key)
            below = prune_emptied(current, edit, emptied, path)
            is_emptied = 0 < len(current) == len(below) and all(edit_below is REMOVE for edit_below in below.values())
            outcome = emptied(path) if is_emptied else EmptiedMapping.KEEP
            results: dict[EmptiedMapping, PendingEdits | Edit] = {
                EmptiedMapping.DELETE: REMOVE,
                EmptiedMapping.NULL: EMPTIED,
                EmptiedMapping.KEEP: below,
            }
            result[key] = results[outcome]
        else:
            result[key] = edit
    return result


def apply_edits(document: Mapping[str, Any], todo: PendingEdits) -> dict[str, Any]:
    """A new document with ``todo`` in it, as returned by ``missing_edits`` or ``prune_emptied``."""
    result = dict(document)
    for key, edit in todo.items():
        if edit is REMOVE:
            del result[key]
        elif edit is EMPTIED:
            result[key] = None
        elif isinstance(edit, dict):
            result[key] = apply_edits(result.get(key) or {}, edit)
        elif isinstance(edit, AppendItem):
            result[key] = [*result[key], edit.item]
        elif isinstance(edit, ItemRemoval):
            result[key] = [value for place, value in enumerate(result[key]) if place not in edit.places]
        else:
            result[key] = edit
    return result


def differing_path(first: Any, second: Any) -> Path | None:
    """Path of a value that differs in type or content; None when both are equal. The order of keys is ignored."""
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
