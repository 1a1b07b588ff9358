# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library with which a containerd decodes TOML: its releases accept different values.

github.com/pelletier/go-toml: go.mod of containerd 1.7.35, 2.0.5, 2.1.9, 2.2.9, 2.3.4 and 2.4.2. What 2.3.0 of the
library accepts was run without containerd; it accepts what 2.2.4 does.
"""

from __future__ import annotations

from enum import Enum

from ...module_utils.containerd_fields import LetterCase
from .containerd_schema import parse_release


class TomlLibrary(str, Enum):
    """What the library does with a value of another type than the field's."""

    V1 = "1.9.5: containerd up to 1.7"
    V2 = "2.2 and 2.3: an empty table counts as unset; a number as a duration is an error (containerd 2.0 to 2.3)"
    V2_4 = "2.4: an empty table is an error; a number as a duration is in nanoseconds (containerd 2.4)"

    @property
    def letter_case(self) -> LetterCase:
        """The letter cases in which keys are read."""
        return LetterCase.FOUR if self is TomlLibrary.V1 else LetterCase.ANY


def toml_library(version: str | None) -> TomlLibrary:
    """The library of a containerd; of an unknown release the newest.

    Debian builds its packages with its own library, not with the one of go.mod: its 2.1.9, which reports
    2.1.9+unknown, has 2.4.3.
    """
    release = parse_release(version)
    if release is not None and release < (2, 0):
        return TomlLibrary.V1
    if release is None or release >= (2, 4) or "+unknown" in (version or ""):
        return TomlLibrary.V2_4
    return TomlLibrary.V2
