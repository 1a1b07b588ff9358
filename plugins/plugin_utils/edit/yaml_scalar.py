# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a YAML scalar is written so that every parser, of YAML 1.1 and 1.2, reads the same value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from .changes import Append, Dropped, Edit, Item, Removal, Scalar, Todo

# Narrower than YAML allows: what is not surely a string to each of YAML 1.1, 1.2, libyaml and go-yaml is quoted.
_PLAIN_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./%@+-]*\Z", re.ASCII)
_PLAIN_QUANTITY = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:m|k|[KMGTPE]i|[MGTP]|s|ms|us|ns|h|%)\Z", re.ASCII)
_NOT_PLAIN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_SINGLE_QUOTABLE = re.compile("[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\\Z")


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
    return quoted(value)


def quoted(value: str) -> str:
    """A string in double quotes, as YAML and JSON both read it."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def value_text(value: Todo | Edit | Item, like: str = "") -> str:
    """``scalar_text``, or a list in brackets, or a mapping in braces; one line in any case."""
    if isinstance(value, (str, bool, int, float)):
        return scalar_text(value, like)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key_text(key)}: {value_text(below)}" for key, below in value.items()) + "}"
    if isinstance(value, (Removal, Append, Dropped)):
        raise TypeError("a removal, or a change of a list, has no text")
    return "[" + ", ".join(value_text(item) for item in value) + "]"


def key_text(key: str) -> str:
    """A key as it is written before its colon."""
    return scalar_text(key)


def _is_plain(value: str) -> bool:
    if _PLAIN_WORD.match(value):
        return value.lower() not in _NOT_PLAIN
    return _PLAIN_QUANTITY.match(value) is not None


def _float_text(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 takes 1e+16 for a string: its floats need a point.
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else mantissa + exponent + power
