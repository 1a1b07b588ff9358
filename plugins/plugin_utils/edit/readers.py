# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast readers of kubelet's YAML and containerd's TOML: text to plain builtins, errors with their line.

kubelet reads its configuration through sigs.k8s.io/yaml, that is go-yaml v2: YAML 1.1 without base 60 numbers, with
floats of YAML 1.2, and with dates as strings (gopkg.in/yaml.v2 resolve.go, as vendored by Kubernetes 1.20).
Parse events, unlike a composer, need no stack of C frames for a hostile text, and libyaml makes them fifty times as
fast as a parser in Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .splice import BOM, line_number
from .syntax_messages import RepeatedKey, explain, repeated_key
from .text_errors import ParseError, library
from .toml_errors import toml_error
from .toml_parser import MAX_DEPTH, parse_toml

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


def resolve_plain(plain: str) -> ResolvedScalar:
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
    # Go's ParseFloat fails for a value out of range; go-yaml then reads a string.
    return plain if number is None or math.isinf(number) else number


def _integer(digits: str) -> int | None:
    match = _INTEGER.match(digits)
    if match is None or len(digits) > _LONGEST_INTEGER:
        return None
    value = next(int(match[1] + match[group], base) for group, base in _BASES if match[group] is not None)
    # The range of Go's int64 and uint64; go-yaml reads a larger number as a float.
    return value if -(2**63) <= value < 2**64 else None


class Events:
    """The parse events of a text; ``end`` is the index behind the collection that ended last."""

    def __init__(self, text: str) -> None:
        self.yaml = library("yaml")
        self.end = 0
        self._next = getattr(self.yaml, "CSafeLoader", self.yaml.SafeLoader)(text).get_event
        self._ends = (self.yaml.SequenceEndEvent, self.yaml.MappingEndEvent)

    def following(self) -> Any:
        """The next event."""
        return self._next()

    def root(self) -> Any | None:
        """The event that begins the first document's value; None when there is no document."""
        self._next()
        start = self._next()
        return None if isinstance(start, self.yaml.StreamEndEvent) else self._next()

    def members(self) -> Iterator[Any]:
        """The first event of each item or key of the current collection; the caller reads the events inside of it."""
        event = self._next()
        while not isinstance(event, self._ends):
            yield event
            event = self._next()
        self.end = event.end_mark.index

    def is_scalar(self, event: Any) -> bool:
        return isinstance(event, self.yaml.ScalarEvent)

    def is_alias(self, event: Any) -> bool:
        return isinstance(event, self.yaml.AliasEvent)

    def is_mapping(self, event: Any) -> bool:
        return isinstance(event, self.yaml.MappingStartEvent)


# A node is less trusted than the controller: aliases of its files must not exhaust the controller.
MAX_NODES = 100_000

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset((_TAG + "str", _TAG + "timestamp", _TAG + "binary"))
_RESOLVED_TAGS = frozenset((_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"))
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MERGE_REMEDY = "Write the merged keys out"


def read_yaml(text: str) -> dict[str, Any]:
    """The one mapping of a YAML 1.1 text as kubelet reads it; {} when there is no document or it is null.

    Keys are the text as written, so `on:` stays the key "on". ParseError for any other text, also for duplicate keys.
    """
    values, notes = read_first_document(text)
    for note in notes:
        raise note
    return values


def read_first_document(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """Like ``read_yaml``, but as go-yaml: the last of repeated keys is effective, text behind the document is ignored.

    The second value reports both, in the order of the text.
    """
    body = text.removeprefix(BOM)
    yaml = library("yaml")
    try:
        reader = _YamlReader(yaml, body)
        return reader.document(), tuple(reader.notes)
    except (UnicodeEncodeError, yaml.reader.ReaderError):
        wrong = _NOT_YAML.search(body)
        line = line_number(body, wrong.start()) if wrong else None
        raise ParseError("a character that YAML does not allow", line, remedy="Save the file as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        # Without its cause, whose message quotes the line.
        raise yaml_error(error) from None


def yaml_error(error: Any) -> ParseError:
    """The error of a text that PyYAML refuses, a yaml.MarkedYAMLError."""
    mark = error.problem_mark or error.context_mark
    message = explain("YAML", error.problem, error.context)
    return ParseError(message.problem, mark.line + 1, mark.column + 1, message.remedy)


class _YamlReader:
    """Builds values from parse events."""

    def __init__(self, yaml: ModuleType, text: str) -> None:
        self._yaml = yaml
        self._next = Events(text).following
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self.notes: list[ParseError] = []

    def document(self) -> dict[str, Any]:
        self._next()
        start = self._next()
        if isinstance(start, self._yaml.StreamEndEvent):
            return {}
        root = self._next()
        value = self._value(root, 0)
        self._next()
        self._note_what_follows()
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _at(root, "the document is not a mapping of keys to values", "Write one 'key: value' on each line")
        return value

    def _note_what_follows(self) -> None:
        """Record what follows the first document; go-yaml ignores it."""
        try:
            following = self._next()
        except self._yaml.MarkedYAMLError as error:
            self.notes.append(yaml_error(error))
            return
        if not isinstance(following, self._yaml.StreamEndEvent):
            self.notes.append(_at(following, "a second document in one file", "Keep one document"))

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, self._yaml.AliasEvent):
            return self._aliased(event)
        before = self._count(event, 1)
        if depth > MAX_DEPTH:
            raise _at(event, f"nested deeper than {MAX_DEPTH} levels", "Reduce the nesting")
        if isinstance(event, self._yaml.ScalarEvent):
            value: Any = _scalar(event)
        elif isinstance(event, self._yaml.MappingStartEvent):
            value = self._mapping(depth + 1)
        else:
            value = self._sequence(depth + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._nodes - before
        return value

    def _aliased(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _at(event, f"undefined alias *{event.anchor}", "Write the value out, or put it in quotes")
        value, nodes = self._anchors[event.anchor]
        self._count(event, nodes)
        return value

    def _count(self, event: Any, nodes: int) -> int:
        before = self._nodes
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise _at(event, f"more than {MAX_NODES} values", "Write out fewer aliases")
        return before

    def _sequence(self, depth: int) -> list[Any]:
        items = []
        event = self._next()
        while not isinstance(event, self._yaml.SequenceEndEvent):
            items.append(self._value(event, depth))
            event = self._next()
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        own: dict[str, int] = {}
        event = self._next()
        while not isinstance(event, self._yaml.MappingEndEvent):
            if not isinstance(event, self._yaml.ScalarEvent):
                raise _at(event, "a key that is not a plain name", "Write it as key: value; render a template first")
            value = self._value(self._next(), depth)
            if event.value == "<<" and event.implicit[0]:
                self._merge(result, event, value)
            else:
                line, column = event.start_mark.line + 1, event.start_mark.column + 1
                if event.value in own:
                    self.notes.append(repeated_key(event.value, line, own[event.value], column))
                own.setdefault(event.value, line)
                result[event.value] = value
            event = self._next()
        return result

    def _merge(self, result: dict[str, Any], place: Any, value: Any) -> None:
        """In go-yaml v2 a merge key replaces keys above it; of several mappings the first has precedence."""
        for source in reversed(value) if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise _at(place, "a merge key needs a mapping", MERGE_REMEDY)
            for key in sorted(result.keys() & source.keys()):
                line, column = place.start_mark.line + 1, place.start_mark.column + 1
                message = f"a merge key (<<) replaces key {key!r} above it"
                self.notes.append(RepeatedKey(message, line, column, MERGE_REMEDY))
            result.update(source)


def _scalar(event: Any) -> Any:
    if event.implicit[0]:
        return resolve_plain(event.value)
    if event.implicit[1] or event.tag in _TEXT_TAGS:
        return event.value
    if event.tag in _RESOLVED_TAGS:
        return resolve_plain(event.value)
    raise _at(event, f"the tag {event.tag} is not supported", "Write the value without the tag")


def _at(event: Any, message: str, remedy: str) -> ParseError:
    return ParseError(message, event.start_mark.line + 1, event.start_mark.column + 1, remedy)


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text, {} if it is empty; ParseError if it is invalid, also for duplicate keys."""
    body = text.removeprefix(BOM)
    try:
        return parse_toml(body)
    except ValueError as error:
        raise toml_error(body, error) from None
    except RecursionError:
        raise ParseError("nested too deeply", remedy="Reduce the nesting") from None
