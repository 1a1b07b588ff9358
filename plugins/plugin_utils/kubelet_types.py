# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that kubelet's decoder does not take, by kubelet's own types.

Source: pkg/kubelet/kubeletconfig/util/codec; sigs.k8s.io/yaml makes JSON of a text, which encoding/json decodes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..module_utils.quantity import parse_quantity
from .kubelet_fields import OBSERVED, Version
from .kubelet_generated import FIELD_KINDS

Path = tuple[str | int, ...]
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_SIZES = {"int": 63, "int64": 63, "int32": 31, "int16": 15, "int8": 7}
_WORDS = {
    "string": "a text (a number in quotes is one)",
    "bool": "true or false",
    "duration": "a duration such as 10s",
    "quantity": "an amount such as 1Gi",
    "list": "a list",
    "table": "a mapping",
    "structure": "a mapping",
    "float64": "a number",
}


@dataclass(frozen=True)
class WrongType:
    """Where a value stands in its document, and what kubelet expects there."""

    path: Path
    expected: str

    def __str__(self) -> str:
        return f"{to_text(self.path)} is not {self.expected}"


def to_text(path: Path) -> str:
    """``registerWithTaints[0].key``"""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".")


def kinds_of(version: Version | None) -> Mapping[str, str]:
    """The types of the nearest release that they were taken from: the oldest for older and unknown ones."""
    known = sorted(FIELD_KINDS)
    return FIELD_KINDS[max((each for each in known if version and each <= version), default=known[0])]


def wrong_types(values: Mapping[str, Any], version: Version | None, *, is_json: bool) -> Iterator[WrongType]:
    """All values of a document that have another type than kubelet's; it takes no notice of fields it does not know."""
    unknown = {field.key for field in OBSERVED if version and version < field.since}
    known = {key: value for key, value in values.items() if key not in unknown}
    yield from _wrong(known, "", (), _Kinds(kinds_of(version), is_json))


@dataclass(frozen=True)
class _Kinds:
    kinds: Mapping[str, str]
    is_json: bool


def _wrong(value: Any, name: str, path: Path, kinds: _Kinds) -> Iterator[WrongType]:
    kind = kinds.kinds.get(name)
    if kind is None:
        yield from _no_json(value, path)
    elif value is None:
        # metav1.Duration alone has a decoder of its own that reads null as an empty text.
        if kind == "duration":
            yield WrongType(path, "a duration such as 10s")
    elif not _takes(kind, value, kinds.is_json):
        yield WrongType(path, _WORDS.get(kind, "a whole number of its size"))
    elif kind == "structure":
        for key, each in value.items():
            yield from _wrong(each, f"{name}.{key}".lstrip("."), (*path, key), kinds)
    elif kind == "table":
        for key, each in value.items():
            yield from _wrong(each, name + "{}", (*path, key), kinds)
    elif kind == "list":
        for number, each in enumerate(value):
            yield from _wrong(each, name + "[]", (*path, number), kinds)


def _no_json(value: Any, path: Path) -> Iterator[WrongType]:
    """What JSON cannot say stops kubelet in any field."""
    if isinstance(value, float) and not math.isfinite(value):
        yield WrongType(path, "a number of JSON")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _no_json(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _no_json(each, (*path, number))


def _takes(kind: str, value: Any, is_json: bool) -> bool:
    if kind in ("structure", "table"):
        return isinstance(value, Mapping)
    if kind == "list":
        return isinstance(value, list)
    if kind == "string":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "duration":
        return isinstance(value, str) and _DURATION.fullmatch(value) is not None
    if kind == "quantity":
        return _is_quantity(value)
    if kind == "float64":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if kind in _SIZES:
        return _is_whole(value, -(1 << _SIZES[kind]), 1 << _SIZES[kind], is_json)
    if kind in ("uint32", "uint64"):
        return _is_whole(value, 0, 1 << int(kind[4:]), is_json)
    # A type with a decoder of its own, which only kubelet knows.
    return True


def _is_whole(value: Any, least: int, limit: int, is_json: bool) -> bool:
    """encoding/json takes 4096, and 4096.0 only as it comes out of YAML, where it is written 4096."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    if isinstance(value, float) and (is_json or not value.is_integer() or abs(value) >= 1e21):
        return False
    return least <= value < limit


def _is_quantity(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return True
