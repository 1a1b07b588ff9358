# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses the subset of YAML that programs use for a kubeconfig: block mappings and lists with values on one line.

A node has no YAML library. Other syntax is rejected with its line number, without quoting it: the text contains keys.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, Sequence

from ..errors import ColocationError

MAX_DEPTH = 16
WHITESPACE = " \t\r"
INVISIBLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\r(?!\\Z)")
"""Control characters and other line separators."""
KEY = re.compile(r"""(?P<key>[A-Za-z0-9_./-]+|"[^"\\]*"|'[^']*')[ \t]*:(?:[ \t]+(?P<value>.*))?\Z""")
DOUBLE = re.compile(r'("(?:[^"\\]|\\.)*")(?:[ \t]+#.*)?\Z')
SINGLE = re.compile(r"'((?:[^']|'')*)'(?:[ \t]+#.*)?\Z")
EMPTY = re.compile(r"(\{[ \t]*\}|\[[ \t]*\])(?:[ \t]+#.*)?\Z")
COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""Plain scalars that are not strings (YAML 1.2, core schema)."""
INDICATORS = {
    "&": "an anchor",
    "*": "an alias",
    "!": "a tag",
    "|": "a multi-line string",
    ">": "a multi-line string",
    "{": "a flow mapping",
    "[": "a flow list",
    **dict.fromkeys("%@`,]}", "a character that cannot start a value"),
}


class UnsupportedSyntax(ColocationError):
    """A text or line with unsupported syntax. The message does not quote it."""


class Line(NamedTuple):
    """A line that is neither empty nor a comment."""

    number: int
    indent: int
    text: str


def parse(text: str) -> Any:
    """Parse mappings, lists, strings, booleans and null; UnsupportedSyntax with the line number."""
    lines = _lines(text)
    if not lines:
        return None
    value, end = _parse_block(lines, 0, MAX_DEPTH)
    if end < len(lines):
        raise _syntax_error(lines[end], "its indentation matches no line before it")
    return value


def _syntax_error(line: Line, problem: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(problem, line=line.number)


def _lines(text: str) -> list[Line]:
    lines: list[Line] = []
    in_document = False
    for number, raw in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        content = raw.strip(WHITESPACE)
        line = Line(number, len(raw) - len(raw.lstrip(" ")), content)
        if not content or content.startswith("#"):
            continue
        if INVISIBLE.search(raw):
            raise _syntax_error(line, "an invisible character")
        if raw.lstrip(" ").startswith("\t"):
            raise _syntax_error(line, "it is indented by a tab")
        if not line.indent and content.startswith(("---", "...", "%")):
            if content != "---" or in_document or lines:
                raise _syntax_error(line, "it begins another document, or a directive")
            in_document = True
            continue
        lines.append(line)
    return lines


def _parse_block(lines: list[Line], position: int, depth: int) -> tuple[Any, int]:
    """The mapping or list that begins at a line, and the position after it."""
    line = lines[position]
    if not depth:
        raise _syntax_error(line, "it is nested too deeply")
    return (_parse_list if _is_item(line) else _parse_map)(lines, position, depth)


def _is_item(line: Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


def _parse_map(lines: list[Line], position: int, depth: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    indent = lines[position].indent
    while position < len(lines) and lines[position].indent == indent and not _is_item(lines[position]):
        line = lines[position]
        matched = KEY.match(line.text)
        if matched is None:
            raise _syntax_error(line, "it is not a key with a value")
        key = matched["key"].strip("\"'")
        if key in mapping:
            raise _syntax_error(line, "its key is a duplicate")
        remainder = (
            COMMENT.sub("", matched["value"] or "") if (matched["value"] or "").startswith("#") else matched["value"]
        )
        if remainder:
            mapping[key] = _parse_scalar(line, remainder)
            position = _next_position(lines, position)
        else:
            mapping[key], position = _parse_nested(lines, position, depth, lists=True)
    return mapping, position


def _parse_list(lines: list[Line], position: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    indent = lines[position].indent
    while position < len(lines) and lines[position].indent == indent and _is_item(lines[position]):
        line = lines[position]
        item = line.text[1:].lstrip(WHITESPACE)
        inner = Line(line.number, indent + len(line.text) - len(item), item)
        if COMMENT.sub("", item) == "":
            value, position = _parse_nested(lines, position, depth, lists=False)
        elif _is_item(inner) or KEY.match(item):
            lines[position] = inner
            value, position = _parse_block(lines, position, depth - 1)
        else:
            value, position = _parse_scalar(line, item), _next_position(lines, position)
        items.append(value)
    return items, position


def _parse_nested(lines: list[Line], position: int, depth: int, *, lists: bool) -> tuple[Any, int]:
    """The block below a line that ends with its key or dash; a list below a key need not be indented."""
    indent, following = lines[position].indent, position + 1
    if following < len(lines):
        child = lines[following]
        if child.indent > indent or (lists and child.indent == indent and _is_item(child)):
            return _parse_block(lines, following, depth - 1)
    return None, following


def _next_position(lines: Sequence[Line], position: int) -> int:
    following = position + 1
    if following < len(lines) and lines[following].indent > lines[position].indent:
        raise _syntax_error(lines[following], "it continues the value of the line before")
    return following


def _parse_scalar(line: Line, text: str) -> Any:
    if EMPTY.match(text):
        return {} if text.startswith("{") else []
    if text[0] in INDICATORS:
        raise _syntax_error(line, INDICATORS[text[0]])
    if text[0] in "\"'":
        return _parse_quoted(line, text)
    plain = COMMENT.sub("", text).rstrip(WHITESPACE)
    if plain.startswith(("- ", "? ", ": ")) or ": " in plain or plain.endswith(":"):
        raise _syntax_error(line, "a mapping or a list within a value")
    return WORDS.get(plain, plain)


def _parse_quoted(line: Line, text: str) -> str:
    matched = (DOUBLE if text[0] == '"' else SINGLE).match(text)
    if matched is None:
        raise _syntax_error(line, "a quoted string that does not end on its line")
    if text[0] == "'":
        return matched[1].replace("''", "'")
    try:
        return str(json.loads(matched[1], strict=False))
    except ValueError:
        raise _syntax_error(line, "an escape sequence that JSON does not have") from None
