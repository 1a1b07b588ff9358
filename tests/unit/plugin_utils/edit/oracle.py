# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The expected result of an edit, computed without the code under test."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import REMOVE, Path

Owned = tuple[str, Path]
"""A line without its end, and the key that it belongs to; a comment belongs to the mapping around it."""


@dataclass(frozen=True)
class Document:
    """A generated text, its lines, and its values."""

    lines: tuple[Owned, ...]
    values: dict[str, Any]
    end: str = "\n"
    mark: str = ""
    last_end: bool = True

    @property
    def text(self) -> str:
        text = "".join(line + self.end for line, _number in self.lines)
        return self.mark + (text if self.last_end else text.removesuffix(self.end))


def changed(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> tuple[dict[str, Any], set[Path]]:
    """The values after all changes, and the mappings that were deleted because they became empty."""
    result: dict[str, Any] = copy.deepcopy(dict(values))
    for path, desired in changes.items():
        if desired is not REMOVE:
            _set(result, path, desired)
    pruned: set[Path] = set()
    for path, desired in changes.items():
        if desired is REMOVE:
            pruned |= _remove(result, path)
    return result, pruned


def _set(values: dict[str, Any], path: Path, desired: Any) -> None:
    for key in path[:-1]:
        if values.get(key) is None:
            values[key] = {}
        values = values[key]
    values[path[-1]] = desired


def _remove(values: dict[str, Any], path: Path) -> set[Path]:
    parents = [values]
    for key in path[:-1]:
        below = parents[-1].get(key)
        if not isinstance(below, dict):
            return set()
        parents.append(below)
    if path[-1] not in parents[-1]:
        return set()
    del parents[-1][path[-1]]
    pruned = set()
    for length in range(len(path) - 1, 0, -1):
        if parents[length]:
            break
        del parents[length - 1][path[length - 1]]
        pruned.add(path[:length])
    return pruned


def settled(values: Mapping[str, Any], pruned: Iterable[Path]) -> Any:
    """The values without emptied mappings: whether these are deleted depends on how they were written."""
    result = copy.deepcopy(dict(values))
    for path in sorted(pruned, key=len, reverse=True):
        around: Any = result
        for key in path[:-1]:
            around = (around or {}).get(key)
        if around and path[-1] in around and not around[path[-1]]:
            del around[path[-1]]
    return comparable(result)


def unrelated(lines: Sequence[Owned], changes: Mapping[Path, Any], pruned: set[Path]) -> list[str]:
    """The lines that no change may touch.

    Without the lines of a changed key, of keys below it, of an inline value around it, and the blank line before the
    header of a deleted table. With the comments in an emptied mapping.
    """
    remaining: list[str] = []
    for line, owner in lines:
        comment = line.lstrip().startswith("#")
        below = any(owner[: len(path)] == path for path in (*changes, *(() if comment else pruned)))
        inline = bool(owner) and not line.lstrip().startswith(("#", "["))
        if below and line.lstrip().startswith("[") and remaining and not remaining[-1].strip():
            remaining.pop()
        if not below and not (inline and any(path[: len(owner)] == owner for path in changes)):
            remaining.append(line)
    return remaining


def in_order(expected: Iterable[str], text: str, end: str) -> bool:
    """Whether the text still has all these lines, byte for byte, in the same order."""
    remaining = iter(text.removeprefix("\ufeff").split(end))
    return all(line in remaining for line in expected)


def leaves(values: Mapping[str, Any], above: Path = ()) -> list[Path]:
    """Paths of all values that are not mappings."""
    result: list[Path] = []
    for key, value in values.items():
        result += leaves(value, (*above, key)) if isinstance(value, dict) and value else [(*above, key)]
    return result


def mappings(values: Mapping[str, Any], above: Path = ()) -> list[Path]:
    """Paths of all mappings that are not empty, the document itself first."""
    result = [above]
    for key, value in values.items():
        if isinstance(value, dict) and value:
            result += mappings(value, (*above, key))
    return result


def possible(values: Any, changes: Mapping[Path, Any], path: Path, desired: Any) -> bool:
    """Whether a change does not overlap another one, and does not lead through or replace a value of the wrong kind."""
    if any(path[: len(other)] == other or other[: len(path)] == path for other in changes):
        return False
    for key in path[:-1]:
        below = values.get(key)
        if below is not None and not isinstance(below, dict):
            return False
        values = below or {}
    have = values.get(path[-1])
    tables = isinstance(have, dict) or (isinstance(have, list) and any(isinstance(item, dict) for item in have))
    return desired is REMOVE or not tables


def comparable(values: Any) -> Any:
    """A value for comparison: types differ (1 is not true), NaN equals itself, the order of keys is ignored."""
    if isinstance(values, dict):
        return {key: comparable(value) for key, value in values.items()}
    return [comparable(value) for value in values] if isinstance(values, list) else repr(values)
