# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's configuration file and its template: keys in any letter case, and edits.

containerd reads fields in any letter case, so settings are changed under the spelling that the file has. In a Go
template only plain TOML is edited: the tables behind the last action. text/template copies text outside of
``{{ }}`` unchanged, so these lines are also the end of the rendered file, byte for byte. The text before them depends
on the program that renders it.
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
    """``edit_toml`` with each path in the letter case of the text, so that no key is added in another letter case."""
    values = read_toml(text)
    return edit_toml(text, {spell_path(values, keys): value for keys, value in changes.items()})


def spell_path(values: Mapping[str, Any], keys: Path) -> Path:
    """A path in the letter case of the file; a key that the file has exactly as in ``keys``, or not at all, stays."""
    spelled: list[str] = []
    table: Any = values
    for place, key in enumerate(keys):
        spellings = other_spellings(table, keys, place)
        exact = not spellings or key in table
        spelled.append(key if exact else spellings[-1])
        table = table.get(spelled[-1]) if isinstance(table, Mapping) else None
    return tuple(spelled)


def other_spelling(values: Mapping[str, Any], keys: Path) -> str | None:
    """The first key on a path that the file has in another letter case, in addition to the key or instead of it."""
    table: Any = values
    for place, key in enumerate(spell_path(values, keys)):
        spellings = other_spellings(table, keys, place)
        if spellings:
            return spellings[-1]
        table = table.get(key) if isinstance(table, Mapping) else None
    return None


def other_spellings(table: Any, keys: Path, place: int) -> list[str]:
    """Keys of a table that spell ``keys[place]`` in another letter case; none for names, which are exact."""
    is_name = place > 0 and keys[place - 1] in ("plugins", "runtimes")
    if is_name or not isinstance(table, Mapping):
        return []
    return [name for name in table if name != keys[place] and is_spelling(name, keys[place])]


BASE = '{{ template "base" . }}\n'
"""Renders what k3s or RKE2 would render without a template (k3s pkg/agent/templates/templates.go)."""

_TRIMS = "-}}"
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_EXTENDS_BASE = re.compile(r"\{\{-?\s*template\s+\"base\"\s+\.\s*-?\}\}")


def extends_base(text: str) -> bool:
    """Whether the template includes what its program would render without it."""
    return _EXTENDS_BASE.search(text) is not None


def split_template(text: str) -> tuple[str, str]:
    """(the part that is not edited, the plain tables at the end); the second is empty if the last table has an action.

    UnsupportedEdit for an action that removes the line end behind it: a table would be joined to its output.
    """
    last = max((action.end() for action in _ACTION.finditer(text)), default=0)
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
    """The template with ``changes`` applied to its plain tables; raises the errors of ``edit_toml``.

    The line before a new table gets a line end if it has none.
    """
    head, tail = split_template(text)
    after = edit_toml(tail, changes)
    if after == tail:
        return text
    separator = "\n" if head and not tail else ""
    return head + ("\n" if head and not head.endswith("\n") else "") + separator + after


def predict_rendering(rendered: str, before: str, after: str) -> str | None:
    """What a program renders from ``after`` if it rendered ``rendered`` from ``before``; None if that is unknown.

    It is known if both differ only behind their last actions, and ``rendered`` ends with the plain end of ``before``.
    """
    common = _common(before, after)
    last = max((action.end() for text in (before, after) for action in _ACTION.finditer(text)), default=0)
    if common < last or before[:last].endswith(_TRIMS):
        return None
    old, new = before[last:], after[last:]
    if not rendered.endswith(old):
        return None
    return rendered[: len(rendered) - len(old)] + new


def _common(first: str, second: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = zip(first, second, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))
