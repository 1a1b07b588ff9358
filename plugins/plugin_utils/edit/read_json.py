# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a configuration file in JSON: text to plain builtins, errors with their line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .errors import ParseError
from .json_nodes import located_json
from .lines import BOM, line_number
from .read import DUPLICATE_REMEDY, MAX_DEPTH, require_shallow
from .yaml_nodes import Entry, Node

_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|NaN|Infinity')
_LONGEST_INTEGER = 20
"""Digits and sign of what fits into 64 bits."""


def read_json(text: str) -> dict[str, Any]:
    """The object of a JSON text; ParseError on anything else, duplicate keys included."""
    values, notes = read_object(text)
    for note in notes:
        raise note
    return values


def read_object(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """``read_json`` as encoding/json does it: a repeated key adds to an object, or replaces the value before it.

    The first repeated key is in the second value.
    """
    body = text.removeprefix(BOM)
    wrong = _NOT_UTF8.search(body)
    if wrong:
        line = line_number(body, wrong.start())
        raise ParseError("a character that JSON does not allow", line, remedy="Save the file as UTF-8")
    pairs = _Pairs()
    document = _decoded(body, pairs)
    if not isinstance(document, dict):
        raise ParseError("not a mapping of keys to values", 1)
    try:
        require_shallow(document)
    except RecursionError:
        raise _too_deep() from None
    return document, (_duplicate(body),) if pairs.repeated else ()


def _decoded(body: str, pairs: _Pairs) -> Any:
    try:
        return json.loads(body, object_pairs_hook=pairs.mapping, parse_int=_integer, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        # Without its cause, which holds the text.
        raise ParseError(f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except _Constant as error:
        raise ParseError(f"not JSON: {error} is not one of its numbers", _line_of_constant(body)) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> ParseError:
    return ParseError(f"nested deeper than {MAX_DEPTH} levels", remedy="Reduce the nesting")


class _Constant(ValueError):
    """NaN or an infinity, which Python's decoder would take."""


class _Pairs:
    """Makes a dict of each object and notes whether any of them has a key twice."""

    def __init__(self) -> None:
        self.repeated = False

    def mapping(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            before = found.get(key)
            found[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
        self.repeated = self.repeated or len(found) < len(pairs)
        return found


def _duplicate(body: str) -> ParseError:
    entry = next(_repeated(located_json(body)))
    return ParseError(f"duplicate key {entry.key!r}", line_number(body, entry.key_start), remedy=DUPLICATE_REMEDY)


def _repeated(node: Node) -> Iterator[Entry]:
    known: set[str] = set()
    for entry in node.entries:
        if entry.key in known:
            yield entry
        known.add(entry.key)
        yield from _repeated(entry.node)
    for item in node.items:
        yield from _repeated(item)


def _integer(source: str) -> int | float:
    """Go's int64 and uint64; what is larger becomes a float there."""
    value = int(source) if len(source) <= _LONGEST_INTEGER else None
    return value if value is not None and -(2**63) <= value < 2**64 else float(source)


def _refuse(constant: str) -> NoReturn:
    raise _Constant(constant)


def _line_of_constant(body: str) -> int | None:
    found = next((token for token in _STRING_OR_CONSTANT.finditer(body) if not token[0].startswith('"')), None)
    return line_number(body, found.start()) if found else None
