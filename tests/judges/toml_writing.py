# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in each TOML notation: tables, dotted keys, inline tables, and quotes of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.tests.judges.chance import Chance


@dataclass(frozen=True)
class Setting:
    """A path of keys, and a value in TOML notation."""

    path: tuple[str, ...]
    value: str


def render(chance: Chance, settings: list[Setting]) -> str:
    """A document with all settings, top-level ones first."""
    top = [setting for setting in settings if len(setting.path) == 1]
    inner = [setting for setting in settings if len(setting.path) > 1]
    write = chance.one((_tables, _tables, _tables, _dotted, _below_plugin, _inline, _shuffled))
    lines = [f"{_key(chance, setting.path[0])} = {setting.value}" for setting in top]
    return "\n".join([*lines, *write(chance, inner)]) + "\n"


def _key(chance: Chance, key: str) -> str:
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", key) is not None
    if bare and not chance.happens(0.08):
        return key
    return f'"{key}"' if chance.happens(0.6) else f"'{key}'"


def _name(chance: Chance, path: tuple[str, ...]) -> str:
    dot = " . " if chance.happens(0.03) else "."
    return dot.join(_key(chance, key) for key in path)


def _tables(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """Each table once, as people write them."""
    parents = dict.fromkeys(setting.path[:-1] for setting in settings)
    for parent in parents:
        if chance.happens(0.1):
            yield f"# {'.'.join(parent)}"
        yield f"{'  ' * chance.below(3)}[{_name(chance, parent)}]"
        for setting in settings:
            if setting.path[:-1] == parent:
                yield f"{_key(chance, setting.path[-1])} = {setting.value}"


def _shuffled(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """The last tables first, so that an inner table precedes an outer one."""
    yield from _tables(chance, settings[::-1])


def _dotted(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    yield from (f"{_name(chance, setting.path)} = {setting.value}" for setting in settings)


def _below_plugin(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """One table for each plugin, with dotted keys."""
    for parent in dict.fromkeys(
        setting.path[:2] if len(setting.path) > 2 else setting.path[:1] for setting in settings
    ):
        yield f"[{_name(chance, parent)}]"
        for setting in settings:
            if (setting.path[:2] if len(setting.path) > 2 else setting.path[:1]) == parent:
                yield f"{_name(chance, setting.path[len(parent) :])} = {setting.value}"


def _inline(chance: Chance, settings: list[Setting]) -> Iterator[str]:
    """One table for each plugin, with its settings in one line."""
    tree: dict[str, Any] = {}
    for setting in settings:
        place = tree
        for key in setting.path[:-1]:
            inner = place.setdefault(key, {})
            place = inner if isinstance(inner, dict) else {}
        place[setting.path[-1]] = setting.value
    for key, value in tree.items():
        for inner, below in value.items():
            yield f"{_name(chance, (key, inner))} = {_inlined(chance, below)}"


def _inlined(chance: Chance, value: Any) -> str:
    if isinstance(value, str):
        return value
    return "{ " + ", ".join(f"{_key(chance, key)} = {_inlined(chance, inner)}" for key, inner in value.items()) + " }"
