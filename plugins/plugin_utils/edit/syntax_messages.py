# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a text that a parser refuses, and the remedy, instead of the parser's own words.

The parsers are tomllib and tomli, libyaml and PyYAML, and Python's json. No message quotes the text, which may have
secrets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .text_errors import ParseError


class SyntaxMessage(NamedTuple):
    """What is wrong, as the end of "file:line: ...", and a sentence that says what to do."""

    problem: str
    remedy: str


CUT_OFF = SyntaxMessage(
    "the text ends within a value", "Complete its last lines: close each bracket, brace and quote that is open"
)
KEEP_ONE = "Keep the one that is meant and delete the other"

_QUOTES = "Write text in double quotes, and numbers, true and false without quotes"
_CONTROL = SyntaxMessage("a control character", "Delete it")

_TOML: Mapping[str, SyntaxMessage] = {
    r"Invalid statement": SyntaxMessage(
        "a line that is neither a key with a value, nor a [table], nor a comment", "Correct the line or delete it"
    ),
    r"Expected newline or end of document after a statement": SyntaxMessage(
        "unexpected characters after a value", f"Write one key and its value on each line. {_QUOTES}"
    ),
    r"Expected '=' after a key in a key/value pair": SyntaxMessage(
        "a key without an equals sign and a value", "Write it as key = value, or delete the line"
    ),
    r"Expected '\]+' at the end of a": SyntaxMessage(
        "a table header without its closing bracket", "Write it as [name], or [[name]] for a list of tables"
    ),
    r"Invalid initial character for a key part": SyntaxMessage(
        "a key that begins with a character that needs quotes, or an empty key", "Write the key in double quotes"
    ),
    r"Invalid value": SyntaxMessage("a missing value, or a value that is not TOML", _QUOTES),
    r"Unclosed array": SyntaxMessage("a list without its comma or closing bracket", "Close the list with ]"),
    r"Unclosed inline table": SyntaxMessage("a table in braces without its closing brace", "Close the table with }"),
    r"(?:Unterminated string|Illegal character '(?:\\r)?\\n'|Expected \"'+\"|Expected \"\\?'+\")": SyntaxMessage(
        "a text without its closing quote", "Close the text on its line"
    ),
    r"Unescaped '\\\\?' in a string|Invalid hex value|Escaped character is not a Unicode": SyntaxMessage(
        "a backslash in a text that is not an escape of TOML", "Write it as \\\\, or put the text in single quotes"
    ),
    r"Illegal character|Found invalid character": _CONTROL,
    r"Invalid date or datetime": SyntaxMessage("a date that does not exist", "Correct it, or put it in quotes"),
    r"Duplicate inline table key": SyntaxMessage("a key that the same braces have twice", KEEP_ONE),
    r"Cannot ": SyntaxMessage("a key or table that the file has twice", KEEP_ONE),
}
"""By the beginning of the parser's message, the first that matches."""

_ALIGN = "Begin all keys of one mapping in the same column, indented by spaces"
_QUOTE_TEXT = "Put the text in quotes"

_YAML: Mapping[str, SyntaxMessage] = {
    r"mapping values are not allowed|found unexpected ':'": SyntaxMessage(
        "a second colon on this line, or a line that is indented too far", f"{_QUOTE_TEXT} if it has a colon. {_ALIGN}"
    ),
    r"did not find expected ',' or '\]'|expected ',' or '\]'": SyntaxMessage(
        "a list in brackets without its comma or closing bracket", "Close the list with ]"
    ),
    r"did not find expected ',' or '\}'|expected ',' or '\}'": SyntaxMessage(
        "a mapping in braces without its comma or closing brace", "Close the mapping with }"
    ),
    r"did not find expected (?:key|'-' indicator)|expected <block end>|(?:block )?sequence entries": SyntaxMessage(
        "a line that is indented differently from the lines before it", _ALIGN
    ),
    r"could not find expected ':'": SyntaxMessage(
        "a line, here or right above, that is not a key with a colon and a value", "Write it as key: value"
    ),
    r"found a tab|found character '\\t'": SyntaxMessage("a tab in the indentation", "Indent by spaces"),
    r"found character .*cannot start any token": SyntaxMessage(
        "a tab in the indentation, or a value that begins with a reserved character",
        f"Indent by spaces. {_QUOTE_TEXT} if it begins with @, % or a backquote",
    ),
    r"found unexpected end of stream|found unexpected document": SyntaxMessage(
        "a text without its closing quote", "Close the text with the quote that it begins with"
    ),
    r"found unknown escape|expected escape|did not find expected hexdecimal|found invalid Unicode": SyntaxMessage(
        "a backslash in a text that is not an escape of YAML", "Write it as \\\\, or put the text in single quotes"
    ),
    r"did not find expected node content|expected the node content": SyntaxMessage(
        "a closing bracket or another sign where a value must be", "Correct or quote the value"
    ),
    r"did not find expected <document start>|expected '<document start>'": SyntaxMessage(
        "text after the end of the document", "Delete it, or the line ... above it"
    ),
    r"found incompatible YAML document|found unknown directive|found duplicate %|found unknown or": SyntaxMessage(
        "a directive that is not supported", "Delete the line that begins with %"
    ),
    r"mapping keys are not allowed": SyntaxMessage("a question mark where no key may be", "Put the text in quotes"),
    r"control characters are not allowed": _CONTROL,
    r"while (?:scanning|parsing) an? (?:%YAML |%TAG |tag )?directive|(?:found )?duplicate": SyntaxMessage(
        "a directive that is not supported", "Delete the line that begins with %"
    ),
    r"while scanning an? (?:anchor|alias)": SyntaxMessage(
        "an anchor (&) or alias (*) without a name", f"{_QUOTE_TEXT} if it begins with & or *"
    ),
    r"while (?:scanning|parsing) a (?:tag|node|%TAG)|found undefined tag": SyntaxMessage(
        "a tag that is not supported", f"Write the value without the tag. {_QUOTE_TEXT} if it begins with !"
    ),
    r"while scanning a block scalar": SyntaxMessage(
        "unexpected characters behind | or >", "Begin the text on the next line, or put it in quotes"
    ),
}
"""By the beginning of the parser's message, or else of its context."""

_JSON: Mapping[str, SyntaxMessage] = {
    r"Expecting property name": SyntaxMessage(
        "a key without double quotes, a comment, or a comma after the last entry", "Write keys in double quotes"
    ),
    r"Illegal trailing comma": SyntaxMessage("a comma after the last entry", "Delete the comma"),
    r"Expecting ':'": SyntaxMessage("a key without a colon", 'Write it as "key": value'),
    r"Expecting ','": SyntaxMessage(
        "a missing comma, or a missing closing bracket or brace", "Separate entries by commas, and close what is open"
    ),
    r"Expecting value": SyntaxMessage("a missing value, or one that is not JSON", "Write text in double quotes"),
    r"Extra data": SyntaxMessage("text after the end of the document", "Delete it"),
    r"Unterminated string": SyntaxMessage("a text without its closing quote", "Close the text on its line"),
    r"Invalid control character": SyntaxMessage(
        "a tab, a line end or another control character in a text", "Write it as an escape, such as \\n"
    ),
    r"Invalid \\": SyntaxMessage("a backslash in a text that is not an escape of JSON", "Write it as \\\\"),
}

_TABLES = {"TOML": _TOML, "YAML": _YAML, "JSON": _JSON}


def explain(language: str, *raw: str | None) -> SyntaxMessage:
    """The message for the first known of a parser's own messages about a text in TOML, YAML or JSON."""
    known = (
        message for text in raw for pattern, message in _TABLES[language].items() if text and re.match(pattern, text)
    )
    return next(known, SyntaxMessage(f"the text is not valid {language}", "Correct the file"))


class RepeatedKey(ParseError):
    """A key that one mapping has twice. Some programs use the last one, others do not start."""


def repeated_key(key: str, line: int, first: int, column: int | None = None) -> RepeatedKey:
    """The error of a key in ``line`` that line ``first`` has already."""
    where = f", first in line {first}" if first != line else ""
    return RepeatedKey(f"key {key!r} is set twice{where}", line, column, KEEP_ONE)
