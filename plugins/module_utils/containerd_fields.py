# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which key of a TOML table a containerd takes for a field of its structures: the letter case is not exact.

Up to 1.7 that is github.com/pelletier/go-toml 1.9.5, marshal.go, valueFromTree (read, not run); from 2.0 on go-toml/v2,
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
    """By the version of containerd; an unknown one is read as a new one."""
    found = re.match(r"v?(\d+)\.", version or "")
    return LetterCase.ANY if found is None or int(found.group(1)) >= 2 else LetterCase.FOUR


def is_spelling(key: str, field: str) -> bool:
    """Whether a key is the field's name in some letter case."""
    return key.lower() == field.lower()


def key_of(keys: Iterable[str], field: str, case: LetterCase) -> str | None:
    """The key of a table that counts for the field; None without one.

    2.x decodes them one after the other, so that the last one counts; ``keys`` have that order. 1.x looks for four
    spellings, and the first that is there counts.
    """
    found = [key for key in keys if is_spelling(key, field)]
    if case is LetterCase.ANY:
        return found[-1] if found else None
    spellings = (field, field.lower(), field.upper(), field[:1].lower() + field[1:])
    return next((each for each in spellings if each in found), None)


def handler_option(options: Mapping[str, Any], field: str, version: str | None) -> Any:
    """A runtime handler's option; None where it says nothing.

    2.x writes the table with its keys in order before it decodes it (internal/cri/config, GenerateRuntimeOptions).
    """
    key = key_of(sorted(options), field, letter_case(version))
    return None if key is None else options[key]
