# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet's parser takes an unquoted YAML scalar for.

kubelet reads its configuration through sigs.k8s.io/yaml, that is go-yaml v2: YAML 1.1 without base 60 numbers, with
floats of YAML 1.2, and with dates that end as strings (gopkg.in/yaml.v2 resolve.go, as vendored by Kubernetes 1.20).
"""

from __future__ import annotations

import math
import re

ResolvedScalar = str | bool | int | float | None

_WORDS: dict[str, ResolvedScalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))\Z", re.ASCII)
_BASES = ((2, 16), (3, 2), (4, 8), (5, 10))
_LONGEST_INTEGER = len("-0b") + 64
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII)


def resolved(plain: str) -> ResolvedScalar:
    """The value of an unquoted, untagged scalar."""
    if plain in _WORDS:
        return _WORDS[plain]
    if plain[0] not in "+-.0123456789":
        return plain
    digits = plain if plain[0] == "." else plain.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    number = float(digits) if _FLOAT.match(digits) else None
    # Out of range is an error to Go's ParseFloat, and then a string.
    return plain if number is None or math.isinf(number) else number


def _integer(digits: str) -> int | None:
    match = _INTEGER.match(digits)
    if match is None or len(digits) > _LONGEST_INTEGER:
        return None
    value = next(int(match[1] + match[group], base) for group, base in _BASES if match[group] is not None)
    # Go's int64 and uint64; what is larger becomes a float there.
    return value if -(2**63) <= value < 2**64 else None
