# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Typed D-Bus values, and the text in which busctl prints and accepts them.

That text has been the same since systemd 239, unlike the output of --json.

Source: systemd src/busctl/busctl.c format_cmdline() and message_append_cmdline(), src/basic/escape.c cescape().
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Tuple, Union

from ..errors import ColocationError

INFINITY = 2**64 - 1
"""The value of ``infinity`` and ``not set`` in every ``t`` of systemd: src/core/dbus-cgroup.c."""

PropertyValue = Union[int, bool, str, bytes, Tuple[Tuple[str, int], ...]]


@dataclass(frozen=True)
class Property:
    """``signature`` is one of ``t`` (int), ``b`` (bool), ``s`` (str), ``ay`` (bytes), ``a(st)`` (pairs)."""

    name: str
    signature: str
    value: PropertyValue


_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_INTEGERS = "ynqiuxth"
_STRINGS = "sog"


class UnreadableReply(ColocationError):
    """busctl printed a text that is not a D-Bus value."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(
            f"busctl printed {text[:80]!r}: {reason}", "Check that this node's busctl belongs to its systemd"
        )


def decode(text: str) -> Any:
    """The first value of a reply: int, bool, float, str, bytes (``ay``), tuple (array, struct) or dict (``a{..}``)."""
    tokens = _tokens(text)
    try:
        signature = next(tokens)
        return _value(_first(signature), tokens)
    except StopIteration:
        raise UnreadableReply(text, "the value is incomplete") from None
    except (ValueError, KeyError) as error:
        raise UnreadableReply(text, "it is not a value of D-Bus") from error


def arguments(property_: Property) -> list[str]:
    """A variant as arguments of busctl: the signature, then the parts of the value."""
    return [property_.signature, *_parts(property_)]


def _parts(property_: Property) -> list[str]:
    value = property_.value
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (int, str)):
        return [str(value)]
    parts = [str(len(value))]
    for item in value:
        parts += [str(item)] if isinstance(item, int) else [str(element) for element in item]
    return parts


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        yield _unescape(match[1]) if match[2] is None else match[2]


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _character(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)


def _first(signature: str) -> str:
    """The first complete type of a signature (D-Bus specification, "Type System")."""
    if signature[:1] == "a":
        return "a" + _first(signature[1:])
    if signature[:1] not in ("(", "{"):
        if not signature:
            raise ValueError("a type is missing")
        return signature[0]
    depth = 0
    for place, character in enumerate(signature):
        depth += (character in "({") - (character in ")}")
        if depth == 0:
            return signature[: place + 1]
    raise ValueError(f"the type {signature!r} is not closed")


def _types(signature: str) -> Iterator[str]:
    while signature:
        first = _first(signature)
        yield first
        signature = signature[len(first) :]


def _value(kind: str, tokens: Iterator[str]) -> Any:
    if kind[0] == "a":
        return _array(kind[1:], tokens)
    if kind[0] in "({":
        return _structure(kind, tokens)
    if kind == "v":
        return _value(_first(next(tokens)), tokens)
    word = next(tokens)
    if kind in _STRINGS:
        return word
    if kind == "b":
        return {"true": True, "false": False}[word]
    if kind in _INTEGERS:
        return int(word)
    if kind == "d":
        return float(word)
    raise ValueError(f"the type {kind!r} is not known")


def _structure(kind: str, tokens: Iterator[str]) -> tuple[Any, ...]:
    values = []
    for member_type in _types(kind[1:-1]):
        values.append(_value(member_type, tokens))
    return tuple(values)


def _array(kind: str, tokens: Iterator[str]) -> Any:
    items = []
    for _place in range(int(next(tokens))):
        items.append(_value(kind, tokens))
    if kind == "y":
        return bytes(items)
    return dict(items) if kind[0] == "{" else tuple(items)
