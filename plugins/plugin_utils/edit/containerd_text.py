# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's configuration file and its template as texts: keys in any letter case, and edits.

containerd reads fields in any letter case, so that settings are changed under the keys that a file has. Of a Go
template only the part that is plain TOML is edited, its tables behind the last action: text/template copies what
stands outside of ``{{ }}`` as it is, so that these lines are the end of what is rendered too, byte for
byte. What stands before them depends on the program that renders it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...module_utils.containerd_fields import is_spelling
from .document_changes import Changes, Path
from .readers import read_toml
from .splice import line_number
from .text_errors import UnsupportedEdit
from .toml_splice import edit_toml


def edit_containerd(text: str, changes: Changes) -> str:
    """``edit_toml`` with each path of keys as the text has it, so that no key is added in another letter case."""
    values = read_toml(text)
    return edit_toml(text, {spell_path(values, keys): value for keys, value in changes.items()})


def spell_path(values: Mapping[str, Any], keys: Path) -> Path:
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
    for place, key in enumerate(spell_path(values, keys)):
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


BASE = '{{ template "base" . }}\n'
"""Everything that k3s or RKE2 would render without a template (k3s pkg/agent/templates/templates.go)."""

_TRIMS = "-}}"
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_EXTENDS_BASE = re.compile(r"\{\{-?\s*template\s+\"base\"\s+\.\s*-?\}\}")


def extends_base(text: str) -> bool:
    """Whether the template takes over what its program would render without it."""
    return _EXTENDS_BASE.search(text) is not None


def split_template(text: str) -> tuple[str, str]:
    """(what is left alone, the plain tables at the end); the second is empty where the last action stands in the last.

    UnsupportedEdit for an action that takes the line end behind it away: a table would be glued to what it renders.
    """
    last = max((found.end() for found in _ACTION.finditer(text)), default=0)
    if text[:last].endswith(_TRIMS):
        raise UnsupportedEdit(
            "the last action removes the line end behind it",
            line_number(text, last),
            "Let it end with }} instead of -}}",
        )
    end_of_line = text.find("\n", last) + 1 if last else 0
    header = _HEADER.search(text, end_of_line) if end_of_line or not last else None
    start = header.start() if header else len(text)
    return text[:start], text[start:]


def edit_template(text: str, changes: Changes) -> str:
    """The template with the wishes of ``changes`` fulfilled in its plain tables; raises as ``edit_toml`` does.

    The line before a new table is ended first.
    """
    head, tail = split_template(text)
    after = edit_toml(tail, changes)
    if after == tail:
        return text
    separator = "\n" if head and not tail else ""
    return head + ("\n" if head and not head.endswith("\n") else "") + separator + after


def predict_rendering(rendered: str, before: str, after: str) -> str | None:
    """What a program renders of ``after`` that rendered ``rendered`` of ``before``; None where that cannot be told.

    It can where the two differ behind the last action of both only, and the old end is the end of what was rendered.
    """
    common = _common(before, after)
    last = max((found.end() for text in (before, after) for found in _ACTION.finditer(text)), default=0)
    if common < last or before[:last].endswith(_TRIMS):
        return None
    old, new = before[last:], after[last:]
    if not rendered.endswith(old):
        return None
    return rendered[: len(rendered) - len(old)] + new


def _common(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))
