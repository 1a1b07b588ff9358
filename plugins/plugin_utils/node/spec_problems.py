# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that an argument specification does not accept: which value, where, what is expected.

Ansible's own check of a role's variables prints the whole specification for each host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.module_utils.common import validation

from ...module_utils.safe_text import quote_value
from ..profile.nearest_name import did_you_mean

LONGEST_VALUE = 60
_EMPTY = "empty"

_TYPES: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "str": (validation.check_type_str, "a text"),
    "path": (validation.check_type_str, "a path"),
    "int": (validation.check_type_int, "a whole number"),
    "float": (validation.check_type_float, "a number"),
    "bool": (validation.check_type_bool, "true or false"),
    "list": (validation.check_type_list, "a list"),
    "dict": (validation.check_type_dict, "a mapping of names to values"),
    "raw": (lambda value: value, "a value"),
}
"""By type: Ansible's conversion, and what a value is."""


def convert(argument: Mapping[str, Any], value: Any) -> Any:
    """The value as its module gets it; ValueError or TypeError for one of another type."""
    return _TYPES[argument.get("type", "str")][0](value)


def with_defaults(options: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping of options with the defaults of those that are not set, also in mappings below it."""
    result = {}
    for name, argument in options.items():
        below = argument.get("options")
        current = value.get(name, argument.get("default"))
        if below and argument["type"] == "dict":
            current = with_defaults(below, current or {})
        elif below:
            current = [with_defaults(below, item) for item in current or ()]
        result[name] = current
    return result


def find_problems(place: str, argument: Mapping[str, Any], value: Any) -> Iterator[str]:
    """What is wrong with a value at ``place``, such as a variable, and with the values in it."""
    if value is None:
        return
    try:
        converted = convert(argument, value)
    except (TypeError, ValueError):
        yield f"{place}: {_quote(value)} is not {_TYPES[argument.get('type', 'str')][1]}"
        return
    if argument.get("type") == "list":
        element = {**argument, "type": argument.get("elements", "raw")}
        for index, item in enumerate(converted):
            yield from find_problems(f"{place}[{index}]", element, item)
        return
    if argument.get("options") and isinstance(converted, Mapping):
        yield from _find_in_options(place, argument["options"], converted)
    choices = argument.get("choices")
    if choices and converted not in choices:
        words = [str(choice) if choice != "" else _EMPTY for choice in choices]
        yield f"{place}: {_quote(value)} is not one of {', '.join(words)}{did_you_mean(str(value), words)}"


def _find_in_options(place: str, options: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    for name in values:
        if name not in options:
            yield f"{place} has no option {name}{did_you_mean(str(name), options)}"
    for name, argument in options.items():
        if name in values:
            yield from find_problems(f"{place}.{name}", argument, values[name])
        elif argument.get("required"):
            yield f"{place}: {name} is missing"


def _quote(value: Any) -> str:
    text = quote_value(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
