# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a configuration file in JSON: plain builtins, errors with their line, and the position of each key and value.

The nodes are those of YAML, whose flow style contains JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .splice import BOM, line_number
from .syntax_messages import explain, repeated_key
from .text_errors import ParseError
from .toml_parser import MAX_DEPTH, require_shallow
from .yaml_syntax import Entry, Kind, Node

_WHITESPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_WORD = re.compile(r"[^ \t\r\n,\]}]+")
"""A number, true, false or null."""


def parse_json_nodes(text: str) -> Node:
    """The root node of a JSON text."""
    return _node(text, _skip_whitespace(text, len(BOM) if text.startswith(BOM) else 0))


def _node(text: str, start: int) -> Node:
    opening = text[start]
    if opening == "{":
        entries = tuple(_entries(text, start))
        end = _closing(text, entries[-1].node.end if entries else start + 1)
        return Node(Kind.MAPPING, start, end, flow=True, entries=entries)
    if opening == "[":
        items = tuple(_items(text, start))
        end = _closing(text, items[-1].end if items else start + 1)
        return Node(Kind.SEQUENCE, start, end, flow=True, items=items)
    end = _behind(_STRING if opening == '"' else _WORD, text, start)
    return Node(Kind.SCALAR, start, end, style='"' if opening == '"' else None, text=text[start:end])


def _entries(text: str, start: int) -> Iterator[Entry]:
    at = _skip_whitespace(text, start + 1)
    while text[at] != "}":
        end = _behind(_STRING, text, at)
        node = _node(text, _behind(_COLON, text, end))
        yield Entry(_decode_key(text[at:end]), at, end, node)
        at = _behind(_COMMA, text, node.end)


def _decode_key(source: str) -> str:
    return str(json.loads(source)) if "\\" in source else source[1:-1]


def _items(text: str, start: int) -> Iterator[Node]:
    at = _skip_whitespace(text, start + 1)
    while text[at] != "]":
        node = _node(text, at)
        yield node
        at = _behind(_COMMA, text, node.end)


def _closing(text: str, reached: int) -> int:
    """Index behind the bracket that closes a collection."""
    return _skip_whitespace(text, reached) + 1


def _skip_whitespace(text: str, at: int) -> int:
    return _behind(_WHITESPACE, text, at)


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|NaN|Infinity')
_LONGEST_INTEGER = 20
"""Digits and sign of the longest integer of 64 bits."""


def read_json(text: str) -> dict[str, Any]:
    """The object of a JSON text; ParseError on anything else, duplicate keys included."""
    values, notes = read_object(text)
    for note in notes:
        raise note
    return values


def read_object(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """Like ``read_json``, but repeated keys as in encoding/json: objects are merged, other values are replaced.

    The second value reports the first repeated key.
    """
    body = text.removeprefix(BOM)
    wrong = _NOT_UTF8.search(body)
    if wrong:
        line = line_number(body, wrong.start())
        raise ParseError("a character that JSON does not allow", line, remedy="Save the file as UTF-8")
    pairs = _Pairs()
    document = _decode_document(body, pairs)
    if not isinstance(document, dict):
        raise ParseError("not a mapping of keys to values", 1, remedy="Write one object in braces")
    try:
        require_shallow(document)
    except RecursionError:
        raise _too_deep() from None
    return document, (_duplicate(body),) if pairs.repeated else ()


def _decode_document(body: str, pairs: _Pairs) -> Any:
    try:
        return json.loads(body, object_pairs_hook=pairs.mapping, parse_int=_integer, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        # Without its cause, which contains the text.
        message = explain("JSON", error.msg)
        raise NotJson(message.problem, error.lineno, error.colno, message.remedy) from None
    except _Constant as error:
        raise NotJson(
            f"{error}, which is not a number of JSON",
            _line_of_constant(body),
            remedy="Write a number",
        ) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> ParseError:
    return ParseError(f"nested deeper than {MAX_DEPTH} levels", remedy="Reduce the nesting")


class NotJson(ParseError):
    """The text is not JSON; the message names what JSON does not allow."""


class _Constant(ValueError):
    """NaN or an infinity, which Python's decoder would accept."""


class _Pairs:
    """Makes a dict of each object and records whether any of them has a key twice."""

    def __init__(self) -> None:
        self.repeated = False

    def mapping(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            before = result.get(key)
            result[key] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
        self.repeated = self.repeated or len(result) < len(pairs)
        return result


def _duplicate(body: str) -> ParseError:
    first, entry = next(_repeated_entries(parse_json_nodes(body)))
    return repeated_key(entry.key, line_number(body, entry.key_start), line_number(body, first.key_start))


def _repeated_entries(node: Node) -> Iterator[tuple[Entry, Entry]]:
    """(the first, a later one) of entries with the same key."""
    known: dict[str, Entry] = {}
    for entry in node.entries:
        first = known.setdefault(entry.key, entry)
        if first is not entry:
            yield first, entry
        yield from _repeated_entries(entry.node)
    for item in node.items:
        yield from _repeated_entries(item)


def _integer(source: str) -> int | float:
    """An integer within Go's int64 or uint64; a larger one as a float, as in Go."""
    value = int(source) if len(source) <= _LONGEST_INTEGER else None
    return value if value is not None and -(2**63) <= value < 2**64 else float(source)


def _refuse(constant: str) -> NoReturn:
    raise _Constant(constant)


def _line_of_constant(body: str) -> int | None:
    tokens = _STRING_OR_CONSTANT.finditer(body)
    constant = next((token for token in tokens if not token[0].startswith('"')), None)
    return line_number(body, constant.start()) if constant else None
