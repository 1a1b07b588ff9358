# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML scalars: what kubelet's parser takes a plain one for, and how one is written so that every parser agrees.

kubelet reads its configuration through sigs.k8s.io/yaml, that is go-yaml v2: YAML 1.1 without base 60 numbers, with
floats of YAML 1.2, and with dates that end as strings (gopkg.in/yaml.v2 resolve.go, as vendored by Kubernetes 1.20).
"""

from __future__ import annotations

import json
import math
import re

from .changes import Removal, Scalar, Wanted

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

# Narrower than YAML allows: what is not surely a string to each of YAML 1.1, 1.2, libyaml and go-yaml is quoted.
_PLAIN_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./%@+-]*\Z", re.ASCII)
_PLAIN_QUANTITY = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i|[MGTP]|s|ms|us|ns|h|%)\Z", re.ASCII)
_NOT_PLAIN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_SINGLE_QUOTABLE = re.compile("[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\\Z")


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


def scalar_text(value: Scalar, like: str = "") -> str:
    """One line of YAML for a value, valid in block and flow context; ``like`` is the old text, whose quotes are kept.

    A string that is safe without quotes gets none, whatever it had: agents look for `cgroupDriver: systemd`
    as text (volcano pkg/agent/utils/cgroup/cgroup.go).
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if _is_plain(value):
        return value
    if like.startswith("'") and _SINGLE_QUOTABLE.match(value):
        return "'" + value.replace("'", "''") + "'"
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def value_text(value: Wanted, like: str = "") -> str:
    """``scalar_text``, or a list of strings in brackets."""
    if isinstance(value, (str, bool, int, float)):
        return scalar_text(value, like)
    if isinstance(value, Removal):
        raise TypeError("a removal has no text")
    return "[" + ", ".join(scalar_text(item) for item in value) + "]"


def key_text(key: str) -> str:
    """A key as it is written before its colon."""
    return scalar_text(key)


def _is_plain(value: str) -> bool:
    if _PLAIN_WORD.match(value):
        return value.lower() not in _NOT_PLAIN
    return _PLAIN_QUANTITY.match(value) is not None


def _float_text(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 takes 1e+16 for a string: its floats need a point.
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else mantissa + exponent + power
