# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wanted values as a tree, what of it a document still lacks, and the document that must come out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

Path: TypeAlias = tuple[str, ...]
Scalar: TypeAlias = str | bool | int | float
Value: TypeAlias = Scalar | Sequence[str]


class Removal(Enum):
    """The wish that a key be absent."""

    REMOVE = "remove"


REMOVE: Final = Removal.REMOVE
Wanted: TypeAlias = Value | Literal[Removal.REMOVE]
Changes: TypeAlias = Mapping[Path, Wanted]
Tree: TypeAlias = "dict[str, Tree | Wanted]"

_ABSENT: Final = object()


def _builtin(value: Any) -> Wanted:
    """``value`` as an exact builtin: ansible-core 2.19 hands over tagged subclasses."""
    if isinstance(value, (Removal, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return [str.__str__(item) for item in value]
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


def needed(document: Mapping[str, Any], wanted: Tree) -> Tree:
    """The part of ``wanted`` that the document lacks; a mapping that would become empty is removed itself."""
    left: Tree = {}
    for key, want in wanted.items():
        have = document.get(key, _ABSENT)
        if isinstance(want, dict):
            below = _needed_below(have, want)
            if below:
                left[key] = below
        elif want is REMOVE:
            if have is not _ABSENT:
                left[key] = REMOVE
        elif have is _ABSENT or difference(have, want) is not None:
            left[key] = want
    return left


def _needed_below(have: Any, wanted: Tree) -> Tree | Literal[Removal.REMOVE]:
    if not isinstance(have, dict):
        return _without_removals(wanted)
    below = needed(have, wanted)
    emptied = len(have) > 0 and len(below) == len(have) and all(want is REMOVE for want in below.values())
    return REMOVE if emptied else below


def _without_removals(wanted: Tree) -> Tree:
    kept: Tree = {}
    for key, want in wanted.items():
        below = _without_removals(want) if isinstance(want, dict) else want
        if below is not REMOVE and below != {}:
            kept[key] = below
    return kept


def applied(document: Mapping[str, Any], wanted: Tree) -> dict[str, Any]:
    """A new document with ``wanted`` in it, as returned by ``needed``."""
    result = dict(document)
    for key, want in wanted.items():
        if want is REMOVE:
            del result[key]
        elif isinstance(want, dict):
            result[key] = applied(result.get(key) or {}, want)
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


def dotted(path: Path) -> str:
    """A path of keys as messages show it."""
    return ".".join(path)
