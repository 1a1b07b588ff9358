# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML read as kubelet reads it, and errors that name the line."""

from __future__ import annotations

import math
import sys

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import MissingLibrary, ParseError
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.toml_parser import MAX_DEPTH


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("on", True),
        ("Off", False),
        ("YES", True),
        ("n", False),
        ("~", None),
        ("", None),
        ("systemd", "systemd"),
        ("0-1", "0-1"),
        ("500m", "500m"),
        ("10.96.0.10", "10.96.0.10"),
        ("2026-01-02", "2026-01-02"),
        ("2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z"),
        ("1:30", "1:30"),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0b101", -5),
        ("1_000", 1000),
        ("+12", 12),
        ("08", 8.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-1.5e-3", -0.0015),
        ("-.inf", float("-inf")),
        ("1e999", "1e999"),
        ("18446744073709551615", 18446744073709551615),
        ("18446744073709551616", 18446744073709551616.0),
        ("1" * 5000, "1" * 5000),
        ("+", "+"),
        ("0x", "0x"),
        ("!!str 5", "5"),
        ("! 5", 5),
        ("!!int '5'", 5),
        ("!!timestamp 2026-01-02", "2026-01-02"),
        ("'yes'", "yes"),
        ("|\n  yes\n", "yes\n"),
    ],
)
def test_a_scalar_is_what_go_yaml_takes_it_for(plain: str, value: object) -> None:
    read = read_yaml(f"key: {plain}\n")
    assert read == {"key": value}
    assert type(read["key"]) is type(value)


def test_not_a_number_is_a_number() -> None:
    value = read_yaml("key: .nan\n")["key"]
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "null\n", "\ufeff", "\ufeff# c\n"]
)
def test_no_document_is_an_empty_one(text: str) -> None:
    assert read_yaml(text) == {}


def test_keys_stay_as_they_are_written() -> None:
    assert read_yaml("on: 1\n010: 2\n~: 3\n") == {"on": 1, "010": 2, "~": 3}


def test_aliases_and_merge_keys_are_followed() -> None:
    text = "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc:\n  <<: [{z: 1}, *a]\nd: [*a, 1]\n'<<': 4\n"
    assert read_yaml(text) == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": {"x": 1, "y": 2, "z": 1},
        "d": [{"x": 1, "y": 2}, 1],
        "<<": 4,
    }


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' is set twice, first in line 1"),
        ("a:\n  b: 1\n  'b': 2\n", 3, 3, "key 'b' is set twice, first in line 2"),
        ("x:\n- {a: 1, a: 2}\n", 2, 10, "key 'a' is set twice. Keep"),
        ("\ufeffa: 1\r\nb: 2\r\na: 3\r\n", 3, 1, "key 'a' is set twice, first in line 1"),
        ("a: 1\n\tb: 2\n", 2, 1, "tab"),
        ("a: [1\nb: 2\n", 2, 2, "a list in brackets"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("a: 1\n---\n", 2, 1, "second document"),
        ("# c\n- a\n", 2, 1, "not a mapping"),
        ("text\n", 1, 1, "not a mapping"),
        ("a: *b\n", 1, 4, "undefined alias"),
        ("a: &a [*a]\n", 1, 8, "undefined alias"),
        ("a: 1\nb:\n  <<: 1\n", 3, 3, "merge key"),
        ("? [a]\n: b\n", 1, 3, "plain name"),
        ("a: !local 1\n", 1, 4, "tag"),
    ],
)
def test_an_error_names_line_and_column(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as raised:
        read_yaml(text)
    assert (raised.value.line, raised.value.column) == (line, column)
    assert str(raised.value).startswith(f"line {line}: ")


@pytest.mark.parametrize("wrong", ["\x01", "\udc80", "\ufffe"])
def test_a_character_yaml_forbids_is_found(wrong: str) -> None:
    with pytest.raises(ParseError, match="Save the file as UTF-8") as raised:
        read_yaml(f"a: 1\nb: {wrong}\n")
    assert raised.value.line == 2


@pytest.mark.parametrize(
    "deep", ["x: " + "[" * 900_000, "- " * 400_000, "{a: " * 5000, "? " * 5000, "a:\n" + " [\n" * 5000]
)
def test_a_hostile_depth_is_refused(deep: str) -> None:
    with pytest.raises(ParseError, match=f"deeper than {MAX_DEPTH}|plain name"):
        read_yaml(deep)


def test_a_hostile_number_of_aliases_is_refused() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)]
    with pytest.raises(ParseError, match="more than 100000 values") as raised:
        read_yaml("\n".join(levels))
    assert raised.value.line == 5


def test_the_parser_without_its_c_library_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert read_yaml("a: [1, 'x', ~]\nb: {c: on}\n") == {"a": [1, "x", None], "b": {"c": True}}
    with pytest.raises(ParseError, match="UTF-8"):
        read_yaml("a: \x01\n")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingLibrary, match="pip install 'PyYAML'"):
        read_yaml("a: 1\n")


def test_no_error_quotes_a_value() -> None:
    with pytest.raises(ParseError) as raised:
        read_yaml("password: 'planted-secret\nb: [planted-secret\n")
    assert "planted-secret" not in str(raised.value)
