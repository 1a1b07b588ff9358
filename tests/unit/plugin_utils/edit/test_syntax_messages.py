# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No message of a parser reaches a person: each has words that say what is wrong, and a remedy."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json.decoder
import json.scanner
from collections.abc import Iterator
from types import ModuleType

import pytest
import yaml.parser
import yaml.scanner

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.syntax_messages import explain
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import ParseError


def literal(node: ast.expr) -> str:
    """A text in a parser's source, without what it inserts."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(literal, node.values))
    if isinstance(node, ast.BinOp):
        return literal(node.left) if isinstance(node.op, ast.Mod) else literal(node.left) + literal(node.right)
    return ""


def raised(module: ModuleType, names: set[str]) -> Iterator[list[str]]:
    """The texts in all calls of these names in the source of a module."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and {getattr(node.func, "id", ""), getattr(node.func, "attr", "")} & names:
            yield [literal(argument) for argument in node.args]


TOML = (
    "Cannot declare ('a', 'b') twice",
    "Cannot mutate immutable namespace ('a',)",
    "Cannot overwrite a value",
    "Cannot redefine namespace ('a',)",
    "Duplicate inline table key 'x'",
    "Escaped character is not a Unicode scalar value",
    "Expected '=' after a key in a key/value pair",
    "Expected ']' at the end of a table declaration",
    "Expected ']]' at the end of an array declaration",
    'Expected "\'"',
    "Expected \"'''\"",
    "Expected newline or end of document after a statement",
    "Found invalid character '\\x07'",
    "Illegal character '\\n'",
    "Invalid date or datetime",
    "Invalid hex value",
    "Invalid initial character for a key part",
    "Invalid statement",
    "Invalid value",
    "Unclosed array",
    "Unclosed inline table",
    "Unescaped '\\' in a string",
    "Unterminated string",
)
"""Messages of tomllib and tomli."""
YAML = sorted(
    {
        (texts[2], texts[0].replace("an %s", "an alias").replace("%s", "tag"))
        for parser in (yaml.scanner, yaml.parser)
        for texts in raised(parser, {"ScannerError", "ParserError"})
    }
)
JSON = sorted(
    {texts[0] for parser in (json.decoder, json.scanner) for texts in raised(parser, {"JSONDecodeError"})} - {""}
)
LIBYAML = (
    ("block sequence entries are not allowed in this context", ""),
    ("could not find expected ':'", "while scanning a simple key"),
    ("could not find expected directive name", "while scanning a directive"),
    ("did not find URI escaped octet", "while parsing a %TAG directive"),
    ("did not find URI escaped octet", "while parsing a tag"),
    ("did not find expected '!'", "while parsing a tag directive"),
    ("did not find expected '!'", "while scanning a tag"),
    ("did not find expected '!'", "while scanning a tag directive"),
    ("did not find expected ',' or ']'", "while parsing a flow sequence"),
    ("did not find expected ',' or '}'", "while parsing a flow mapping"),
    ("did not find expected '-' indicator", "while parsing a block collection"),
    ("did not find expected <document start>", ""),
    ("did not find expected alphabetic or numeric character", "while scanning an alias"),
    ("did not find expected alphabetic or numeric character", "while scanning an anchor"),
    ("did not find expected comment or line break", "while scanning a block scalar"),
    ("did not find expected comment or line break", "while scanning a directive"),
    ("did not find expected digit or '.' character", "while scanning a %YAML directive"),
    ("did not find expected hexdecimal number", "while parsing a quoted scalar"),
    ("did not find expected key", "while parsing a block mapping"),
    ("did not find expected node content", "while parsing a block node"),
    ("did not find expected node content", "while parsing a flow node"),
    ("did not find expected tag URI", "while parsing a %TAG directive"),
    ("did not find expected tag URI", "while parsing a tag"),
    ("did not find expected version number", "while scanning a %YAML directive"),
    ("did not find expected whitespace", "while scanning a %TAG directive"),
    ("did not find expected whitespace or line break", "while scanning a %TAG directive"),
    ("did not find expected whitespace or line break", "while scanning a tag"),
    ("did not find the expected '>'", "while scanning a tag"),
    ("found a tab character that violates indentation", "while scanning a plain scalar"),
    ("found a tab character where an indentation space is expected", "while scanning a block scalar"),
    ("found an incorrect leading UTF-8 octet", "while parsing a %TAG directive"),
    ("found an incorrect leading UTF-8 octet", "while parsing a tag"),
    ("found an incorrect trailing UTF-8 octet", "while parsing a %TAG directive"),
    ("found an incorrect trailing UTF-8 octet", "while parsing a tag"),
    ("found an indentation indicator equal to 0", "while scanning a block scalar"),
    ("found character that cannot start any token", "while scanning for the next token"),
    ("found duplicate %TAG directive", ""),
    ("found duplicate %YAML directive", ""),
    ("found extremely long version number", "while scanning a %YAML directive"),
    ("found incompatible YAML document", ""),
    ("found invalid Unicode character escape code", "while parsing a quoted scalar"),
    ("found undefined tag handle", "while parsing a node"),
    ("found unexpected ':'", "while scanning a plain scalar"),
    ("found unexpected document indicator", "while scanning a quoted scalar"),
    ("found unexpected end of stream", "while scanning a quoted scalar"),
    ("found unexpected non-alphabetical character", "while scanning a directive"),
    ("found unknown directive name", "while scanning a directive"),
    ("found unknown escape character", "while parsing a quoted scalar"),
    ("mapping keys are not allowed in this context", ""),
    ("mapping values are not allowed in this context", ""),
)
"""(problem, context) of libyaml: src/scanner.c and src/parser.c of 840b65c, which come from a text."""


def test_the_parsers_have_messages() -> None:
    assert (len(YAML) > 25, len(JSON) > 5) == (True, True)


def test_the_messages_of_toml_are_those_of_the_standard_library() -> None:
    """tomllib is new in Python 3.11."""
    if importlib.util.find_spec("tomllib") is None:
        return
    parser = importlib.import_module("tomllib._parser")
    messages = {tuple(texts[2].split("  ")) for texts in raised(parser, {"suffixed_err"})}
    assert {parts for parts in messages if not any(raw.startswith(parts[0]) for raw in TOML)} == set()


@pytest.mark.parametrize("raw", TOML)
def test_a_message_of_the_toml_parser_is_known(raw: str) -> None:
    assert "not valid TOML" not in explain("TOML", raw).problem


@pytest.mark.parametrize("raw", [*YAML, *LIBYAML])
def test_a_message_of_the_yaml_parsers_is_known(raw: tuple[str, str]) -> None:
    assert "not valid YAML" not in explain("YAML", *raw).problem


@pytest.mark.parametrize("raw", JSON)
def test_a_message_of_the_json_parser_is_known(raw: str) -> None:
    assert "not valid JSON" not in explain("JSON", raw).problem


def test_an_unknown_message_is_not_repeated() -> None:
    assert explain("TOML", "Expected planted-secret") == ("the text is not valid TOML", "Correct the file")


REPEATED = {
    "a key": ("a = 1\nb = 2\n[c]\nx = 1\nx = 2\n", 5, "key 'c.x' is set twice, first in line 4"),
    "a key with quotes": ('["a.b"]\nx = 1\nx = 2\n', 3, "key '\"a.b\".x' is set twice, first in line 2"),
    "a key whose value has several lines": ("a = 1\na = [\n1,\n2]\n", 2, "key 'a' is set twice, first in line 1"),
    "a key in the second element": (
        "[[a]]\nx = 1\n[[a]]\nx = 1\nx = 2\n",
        5,
        "key 'a.x' is set twice, first in line 4",
    ),
    "a table": ("[a.b]\n\n[c]\n[a.b]\n", 4, "table [a.b] is declared twice, first in line 1"),
    "a table in the second element": (
        "[[a]]\n[a.b]\n[[a]]\n[a.b]\n[a.b]\n",
        5,
        "table [a.b] is declared twice, first in line 4",
    ),
    "a value, then a table": ("[a]\nb = 1\n[a.b]\n", 3, "a.b is a table here and a plain value in line 2"),
    "a table, then a value": ("[a.b]\n[a]\nb = 1\n", 3, "a.b is a plain value here and a table in line 1"),
    "a value, then a dotted key": ("a.b = 1\na.b.c = 2\n", 2, "a.b is a table here and a plain value in line 1"),
    "braces, then a table": ("a = {}\n[a.b]\n", 2, "a.b adds to a, which line 1 writes in braces"),
    "braces, then a dotted key": ("a = {}\na.b = 1\n", 2, "a.b adds to a, which line 1 writes in braces"),
    "a dotted key, then a table": (
        "[a]\nb.c = 1\n[a.b]\n",
        3,
        "table [a.b] is already made by the dotted key a.b.c in line 2",
    ),
    "a table, then a dotted key": (
        "[a.b]\nx = 1\n[a]\nb.y = 2\n",
        4,
        "a.b.y belongs to the table [a.b], which line 1 declares",
    ),
    "a list of tables, then a table": ("[[a]]\n[a]\n", 2, "a is a table and a list of tables, first in line 1"),
    "a table, then a list of tables": ("[a]\n[[a]]\n", 2, "a is a table and a list of tables, first in line 1"),
    "a key in braces": ("a = {b = 1, b = 2}\n", 1, "a key that the same braces have twice"),
}


@pytest.mark.parametrize("name", REPEATED)
def test_what_a_toml_text_has_twice_is_named_with_both_lines(name: str) -> None:
    text, line, message = REPEATED[name]
    with pytest.raises(ParseError) as raised:
        read_toml(text)
    assert (raised.value.line, raised.value.message) == (line, message)
    assert raised.value.remedy


def test_a_text_with_many_statements_is_refused_in_a_moment() -> None:
    """A node is less trusted than the controller."""
    text = "".join(f"a{number} = 1\n" for number in range(60_000))
    with pytest.raises(ParseError, match="key 'a59999' is set twice, first in line 60000"):
        read_toml(text + "a59999 = 1\n")


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: &b [\n", "? x: y\n", "%A\n", "a: !<x\n", "a: | x\n"])
def test_an_error_of_yaml_has_a_remedy(text: str) -> None:
    with pytest.raises(ParseError) as raised:
        read_yaml(text)
    assert raised.value.remedy
    assert "not valid YAML" not in raised.value.message
