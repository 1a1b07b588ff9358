# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which key of a TOML table containerd decodes into a field of its structures: letter case does not have to match.

Up to 1.7 it is github.com/pelletier/go-toml 1.9.5, marshal.go, valueFromTree (read, not run); from 2.0 on go-toml/v2,
unmarshaler.go, structPlan.lookup (run with containerd 2.4.2).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Iterable, Mapping

SYSTEMD_CGROUP = "SystemdCgroup"


class LetterCase(str, Enum):
    """How a release compares keys with the names of fields."""

    ANY = "2.0 and later take a key in any letter case"
    FOUR = "up to 1.7 four spellings count"


def letter_case(version: str | None) -> LetterCase:
    """The letter case rule of a containerd version; an unknown version counts as new."""
    match = re.match(r"v?(\d+)\.", version or "")
    return LetterCase.ANY if match is None or int(match.group(1)) >= 2 else LetterCase.FOUR


def is_spelling(key: str, field: str) -> bool:
    """Whether a key is the field's name in some letter case."""
    return key.lower() == field.lower()


def key_of(keys: Iterable[str], field: str, case: LetterCase) -> str | None:
    """The key of a table that sets the field; None without one.

    2.x decodes the keys in order, so the last one counts; ``keys`` must have that order. 1.x looks for four spellings,
    and the first that exists counts.
    """
    matching = [key for key in keys if is_spelling(key, field)]
    if case is LetterCase.ANY:
        return matching[-1] if matching else None
    spellings = (field, field.lower(), field.upper(), field[:1].lower() + field[1:])
    return next((spelling for spelling in spellings if spelling in matching), None)


def handler_option(options: Mapping[str, Any], field: str, version: str | None) -> Any:
    """A runtime handler's option; None if it is not set.

    2.x writes the table with sorted keys before it decodes it (internal/cri/config, GenerateRuntimeOptions).
    """
    key = key_of(sorted(options), field, letter_case(version))
    return None if key is None else options[key]
