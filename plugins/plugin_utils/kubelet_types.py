# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that kubelet's decoder does not take, by kubelet's own types.

Source: pkg/kubelet/kubeletconfig/util/codec; sigs.k8s.io/yaml makes JSON of a text, which encoding/json decodes.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..module_utils.quantity import parse_quantity
from .kubelet_fields import OBSERVED
from .kubelet_generated import FIELD_KINDS
from .versions import Version

Path = tuple[str | int, ...]
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_WORDS = {
    "string": "a text (a number in quotes is one)",
    "bool": "true or false",
    "duration": "a duration such as 10s",
    "quantity": "an amount such as 1Gi",
    "list": "a list",
    "table": "a mapping of names to texts (a number in quotes is one)",
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


def is_duration(text: str) -> bool:
    """Whether Go's time.ParseDuration takes a text."""
    return _DURATION.fullmatch(text) is not None


def kinds_of(version: Version | None) -> Mapping[str, str]:
    """The types of the nearest release that they were taken from: the oldest for older and unknown ones."""
    known = sorted(FIELD_KINDS)
    return FIELD_KINDS[max((each for each in known if version and each <= version), default=known[0])]


def wrong_types(values: Mapping[str, Any], version: Version | None, *, is_json: bool) -> Iterator[WrongType]:
    """All values of the main file that have another type than kubelet's; of fields it does not know it takes no notice.

    ``is_json``: the text is JSON and no YAML.
    """
    yield from _wrong(_known(values, version), "", (), _Kinds(kinds_of(version), is_json=is_json))


def wrong_types_of_dropins(values: Mapping[str, Any], version: Version | None) -> Iterator[WrongType]:
    """The same of all drop-ins put together, where the case of a key's letters is one to kubelet."""
    kinds = {name.lower(): kind for name, kind in kinds_of(version).items()}
    yield from _wrong(_known(values, version), "", (), _Kinds(kinds, folded=True))


def _known(values: Mapping[str, Any], version: Version | None) -> dict[str, Any]:
    unknown = {field.key for field in OBSERVED if version and version < field.since}
    return {key: value for key, value in values.items() if key not in unknown}


@dataclass(frozen=True)
class _Kinds:
    """The kinds by name, or by name in small letters where ``folded``."""

    kinds: Mapping[str, str]
    is_json: bool = False
    folded: bool = False

    def of(self, name: str) -> str | None:
        return self.kinds.get(name.lower() if self.folded else name)

    def takes(self, kind: str, value: Any) -> bool:
        """True also for a type with a decoder of its own, which only kubelet knows."""
        if self.is_json and kind in _LIMITS and isinstance(value, float):
            return False
        check = _CHECKS.get(kind)
        return check is None or check(value)


def _wrong(value: Any, name: str, path: Path, kinds: _Kinds) -> Iterator[WrongType]:
    kind = kinds.of(name)
    if kind is None:
        yield from _no_json(value, path)
    elif value is None:
        # metav1.Duration alone has a decoder of its own that reads null as an empty text.
        if kind == "duration":
            yield WrongType(path, _WORDS[kind])
    elif not kinds.takes(kind, value):
        yield WrongType(path, _expected(kind, name, kinds))
    else:
        for part, inner in _inner(kind, value, name):
            yield from _wrong(value[part], inner, (*path, part), kinds)


def _expected(kind: str, name: str, kinds: _Kinds) -> str:
    if kind == "table":
        return {"bool": "a mapping of names to true or false"}.get(kinds.of(name + "{}") or "", _WORDS[kind])
    return _WORDS.get(kind, "a whole number of its size")


def _inner(kind: str, value: Any, name: str) -> Iterator[tuple[str | int, str]]:
    """The keys or positions below a value, with the name of each one's kind."""
    if kind == "structure":
        yield from ((key, f"{name}.{key}".lstrip(".")) for key in value)
    elif kind == "table":
        yield from ((key, name + "{}") for key in value)
    elif kind == "list":
        yield from ((number, name + "[]") for number in range(len(value)))


def _no_json(value: Any, path: Path) -> Iterator[WrongType]:
    """What JSON cannot say stops kubelet in any field."""
    if isinstance(value, float) and not math.isfinite(value):
        yield WrongType(path, "a number of JSON")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _no_json(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _no_json(inner, (*path, number))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(kind: str, value: Any) -> bool:
    """encoding/json takes 4096, and 4096.0 as it comes out of YAML, where it is written 4096 up to 1e21."""
    least, limit = _LIMITS[kind]
    if not _is_number(value) or (isinstance(value, float) and not (value.is_integer() and abs(value) < 1e21)):
        return False
    return bool(least <= value < limit)


def _is_quantity(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return True


_LIMITS = {
    **{f"int{bits}": (-(1 << (bits - 1)), 1 << (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 1 << bits) for bits in (8, 16, 32, 64)},
}
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "structure": lambda value: isinstance(value, Mapping),
    "table": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "duration": lambda value: isinstance(value, str) and is_duration(value),
    "quantity": _is_quantity,
    "float64": _is_number,
    **{kind: functools.partial(_is_whole, kind) for kind in _LIMITS},
}
