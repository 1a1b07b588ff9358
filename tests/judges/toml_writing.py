# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same settings as TOML in the ways that TOML has: tables, dotted keys, inline tables, and quotes of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.tests.judges.chance import Chance


@dataclass(frozen=True)
class Setting:
    """A path of keys and a value as TOML spells it."""

    path: tuple[str, ...]
    value: str


def render(chance: Chance, settings: list[Setting]) -> str:
    """A document with all of them, top-level ones first."""
    top = [each for each in settings if len(each.path) == 1]
    rest = [each for each in settings if len(each.path) > 1]
    write = chance.one((_tables, _tables, _tables, _dotted, _below_plugin, _inline, _shuffled))
    lines = [f"{_key(chance, each.path[0])} = {each.value}" for each in top]
    return "\n".join([*lines, *write(chance, rest)]) + "\n"


def _key(chance: Chance, key: str) -> str:
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", key) is not None
    if bare and not chance.happens(0.08):
        return key
    return f'"{key}"' if chance.happens(0.6) else f"'{key}'"


def _name(chance: Chance, path: tuple[str, ...]) -> str:
    dot = " . " if chance.happens(0.03) else "."
    return dot.join(_key(chance, each) for each in path)


def _tables(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """Each table once, as people write them."""
    parents = dict.fromkeys(each.path[:-1] for each in settings)
    for parent in parents:
        if chance.happens(0.1):
            yield f"# {'.'.join(parent)}"
        yield f"{'  ' * chance.below(3)}[{_name(chance, parent)}]"
        for each in settings:
            if each.path[:-1] == parent:
                yield f"{_key(chance, each.path[-1])} = {each.value}"


def _shuffled(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """The last tables first, so that an inner table stands before an outer one."""
    yield from _tables(chance, settings[::-1])


def _dotted(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    yield from (f"{_name(chance, each.path)} = {each.value}" for each in settings)


def _below_plugin(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """A table a plugin, dotted keys in it."""
    for parent in dict.fromkeys(each.path[:2] if len(each.path) > 2 else each.path[:1] for each in settings):
        yield f"[{_name(chance, parent)}]"
        for each in settings:
            if (each.path[:2] if len(each.path) > 2 else each.path[:1]) == parent:
                yield f"{_name(chance, each.path[len(parent) :])} = {each.value}"


def _inline(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """A table a plugin, everything below it in one line."""
    tree: dict[str, Any] = {}
    for each in settings:
        place = tree
        for key in each.path[:-1]:
            inner = place.setdefault(key, {})
            place = inner if isinstance(inner, dict) else {}
        place[each.path[-1]] = each.value
    for key, value in tree.items():
        for inner, below in value.items():
            yield f"{_name(chance, (key, inner))} = {_inlined(chance, below)}"


def _inlined(chance: Chance, value: Any) -> str:
    if isinstance(value, str):
        return value
    return "{ " + ", ".join(f"{_key(chance, key)} = {_inlined(chance, each)}" for key, each in value.items()) + " }"
