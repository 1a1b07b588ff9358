# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands where in the record of settings: it is held against it before anybody acts on it."""

from __future__ import annotations

from typing import Any

from ..errors import ColocationError
from ..transaction import shape
from .conversion import Backend
from .knobs import knob

SIGNATURES = ("t", "b", "s", "ay", "a(st)")


def _number(value: Any) -> bool:
    return isinstance(value, int)


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_number, value))


def _pairs(value: Any, second: Any) -> bool:
    """A list of [text, what ``second`` takes]."""
    return isinstance(value, list) and all(
        isinstance(each, list) and len(each) == 2 and shape.text(each[0]) and second(each[1]) for each in value
    )


def _limits(value: Any) -> bool:
    return _pairs(value, lambda limit: limit is None or _number(limit))


def _value(found: Any) -> bool:
    """knob.Value as JSON has it: its tuples are lists."""
    return found is None or _number(found) or shape.text(found) or _numbers(found) or _pairs(found, _limits)


def _cgroup(value: Any) -> bool:
    return shape.text(value) and "\0" not in value and set(value.split("/")).isdisjoint(("", ".", ".."))


def _root(value: Any) -> bool:
    return shape.text(value) and value.startswith("/") and "\0" not in value


def _files(value: Any) -> bool:
    return isinstance(value, dict) and all("/" not in name and shape.text(text) for name, text in value.items())


def _knob(value: Any) -> bool:
    try:
        return shape.text(value) and bool(knob(value))
    except ColocationError:
        return False


def _property(value: Any) -> bool:
    return _number(value) or shape.text(value) or _pairs(value, _number)


SHAPE = {
    "settings": [
        {
            "cgroup_root": _root,
            "cgroup": _cgroup,
            "knob": _knob,
            "wanted": _value,
            "before": _value,
            "texts": _files,
            "stored": [
                {"name": shape.text, "signature": lambda value: value in SIGNATURES, "value": _property},
            ],
            "backend": lambda value: value in [backend.value for backend in Backend],
            "persistent": shape.switch,
            "boot": shape.text,
            "?pod": shape.text,
        }
    ]
}
