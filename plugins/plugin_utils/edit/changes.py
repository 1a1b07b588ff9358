# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wanted of a document: values, additions to a list, removals; by their paths, or as a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
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
class Append:
    """The wish that a list hold ``item``, whatever else it holds; a list that is not there is made."""

    item: Item

    def __str__(self) -> str:
        return f"with {self.item}"


@dataclass(frozen=True)
class Without:
    """The wish that a list not hold ``item``; the rest of it stays, be it empty."""

    item: Item

    def __str__(self) -> str:
        return f"without {self.item}"


@dataclass(frozen=True)
class Dropped:
    """What ``Without`` comes to in a document: the places of the item in the list."""

    places: tuple[int, ...]


Wanted: TypeAlias = "Value | Removal | Append | Without"
Edit: TypeAlias = "Value | Removal | Append | Dropped"
Changes: TypeAlias = Mapping[Path, Wanted]
Tree: TypeAlias = "dict[str, Tree | Wanted]"
Todo: TypeAlias = "dict[str, Todo | Edit]"


def _builtin(value: Any) -> Wanted:
    """``value`` as an exact builtin: ansible-core 2.19 hands over tagged subclasses."""
    if isinstance(value, Append):
        return Append(_item(value.item))
    if isinstance(value, Without):
        return Without(_item(value.item))
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


def tree(changes: Changes) -> Tree:
    """The changes as nested dicts; ValueError when one path is empty or leads through another."""
    root: Tree = {}
    for path, value in changes.items():
        if not path:
            raise ValueError("a change needs a path of at least one key")
        branch = root
        for key in path[:-1]:
            below = branch.setdefault(str.__str__(key), {})
            if not isinstance(below, dict):
                raise ValueError(f"two changes overlap at {dotted(path)}")
            branch = below
        if path[-1] in branch:
            raise ValueError(f"two changes overlap at {dotted(path)}")
        branch[str.__str__(path[-1])] = _builtin(value)
    return root


def dotted(path: Path) -> str:
    """A path of keys as messages show it."""
    return ".".join(path)
