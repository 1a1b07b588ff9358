# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes settings of containerd's file under the keys that it has: containerd reads fields in any letter case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.containerd_fields import is_spelling
from .changes import Changes, Path
from .read import read_toml
from .toml_splice import edit_toml


def edit_containerd(text: str, changes: Changes) -> str:
    """``edit_toml`` with each path of keys as the text has it, so that no key is added in another letter case."""
    values = read_toml(text)
    return edit_toml(text, {spelled(values, keys): value for keys, value in changes.items()})


def spelled(values: Mapping[str, Any], keys: Path) -> Path:
    """A path of keys as the file has it; a field that it has in our letter case, or not at all, keeps ours."""
    found: list[str] = []
    here: Any = values
    for place, key in enumerate(keys):
        others = other_spellings(here, keys, place)
        exact = not others or key in here
        found.append(key if exact else others[-1])
        here = here.get(found[-1]) if isinstance(here, Mapping) else None
    return tuple(found)


def other_spelling(values: Mapping[str, Any], keys: Path) -> str | None:
    """The first key on a path that the file has in another letter case than ours, besides ours or in its place."""
    here: Any = values
    for place, key in enumerate(spelled(values, keys)):
        others = other_spellings(here, keys, place)
        if others:
            return others[-1]
        here = here.get(key) if isinstance(here, Mapping) else None
    return None


def other_spellings(table: Any, keys: Path, place: int) -> list[str]:
    """Keys of a table that are the field at a place of a path in another letter case; names are exact and have none."""
    is_name = place > 0 and keys[place - 1] in ("plugins", "runtimes")
    if is_name or not isinstance(table, Mapping):
        return []
    return [each for each in table if each != keys[place] and is_spelling(each, keys[place])]
