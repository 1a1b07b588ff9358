# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of JSON texts: each case has the whole text before and after."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    REMOVE,
    AppendItem,
    RemoveItem,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.json_splice import edit_json
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.json_syntax import read_json
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import (
    EditError,
    ParseError,
    UnsupportedEdit,
)

CASES: dict[str, tuple[str, dict[tuple[str, ...], Any], str]] = {
    "a value on one line": (
        '{"kind": "K", "cgroupDriver": "cgroupfs", "a": 1}\n',
        {("cgroupDriver",): "systemd"},
        '{"kind": "K", "cgroupDriver": "systemd", "a": 1}\n',
    ),
    "a key on one line": (
        '{"kind": "K", "a": {"b": "c"}}',
        {("cgroupDriver",): "systemd", ("a", "d"): 1, ("e", "f"): "0.5"},
        '{"kind": "K", "a": {"b": "c", "d": 1}, "cgroupDriver": "systemd", "e": {"f": "0.5"}}',
    ),
    "a key in a line without spaces": (
        '{"kind":"K","a":{"b":"c"},"l":["x"]}\n',
        {("cgroupDriver",): "systemd", ("a", "d"): 1, ("e", "f"): ["g", "h"]},
        '{"kind":"K","a":{"b":"c","d":1},"l":["x"],"cgroupDriver":"systemd","e":{"f":["g","h"]}}\n',
    ),
    "a key on several lines": (
        '{\n  "kind": "K",\n  "systemReserved": {\n    "cpu": "1"\n  }\n}\n',
        {("systemReserved", "memory"): "1Gi", ("cgroupDriver",): "systemd", ("kubeReserved", "cpu"): "2"},
        '{\n  "kind": "K",\n  "systemReserved": {\n    "cpu": "1",\n    "memory": "1Gi"\n  },\n'
        '  "cgroupDriver": "systemd",\n  "kubeReserved": {\n    "cpu": "2"\n  }\n}\n',
    ),
    "a value on several lines": (
        '{\n    "a" : "x" ,\n    "b" : [ 1,2 ],\n\n    "c" : null\n}',
        {("a",): "y", ("c",): False, ("d", "e"): 5},
        '{\n    "a" : "y" ,\n    "b" : [ 1,2 ],\n\n    "c" : false,\n    "d" : {\n        "e" : 5\n    }\n}',
    ),
    "nested objects on one line each": (
        '{\n\t"a": {"b": 1},\n\t"c": ["x", "y"]\n}\n',
        {("a", "d"): 2, ("e", "f"): [1], ("c",): ["z", "w"]},
        '{\n\t"a": {"b": 1, "d": 2},\n\t"c": ["z", "w"],\n\t"e": {"f": [1]}\n}\n',
    ),
    "the first key, with others in the next line": (
        '{"a": {"b": 1, "c": 2,\r\n"d": 3}, "e": 4,\n"f": 5}\n',
        {("a", "b"): REMOVE, ("a", "c"): REMOVE, ("e",): 6},
        '{"a": {\r\n"d": 3}, "e": 6,\n"f": 5}\n',
    ),
    "the first key, with its comma alone in a line": (
        '{"a": 1, "b": {"c": 2\n,\n"d": 3}}\n',
        {("b", "c"): REMOVE},
        '{"a": 1, "b": {\n"d": 3}}\n',
    ),
    "the comma before the key": (
        '{ "a": 1\n, "b": 2\n}\n',
        {("c",): 3, ("a",): REMOVE},
        '{ "b": 2\n, "c": 3\n}\n',
    ),
    "the first key beside the brace": (
        '{"a": 1,\n "b": {"c": 1,\n       "d": 2}}\n',
        {("b", "e"): 3, ("f",): 4},
        '{"a": 1,\n "b": {"c": 1,\n       "d": 2,\n       "e": 3},\n "f": 4}\n',
    ),
    "CRLF and a byte order mark": (
        '\ufeff{\r\n  "a": 1\r\n}\r\n\r\n',
        {("a",): 2, ("b", "c"): "x"},
        '\ufeff{\r\n  "a": 2,\r\n  "b": {\r\n    "c": "x"\r\n  }\r\n}\r\n\r\n',
    ),
    "blank lines and spaces around": (
        ' \n\t{"a": 1} \n\n',
        {("a",): True, ("b",): 1.5},
        ' \n\t{"a": true, "b": 1.5} \n\n',
    ),
    "a carriage return at the end": ('{"a": 1}\r', {("a",): 2}, '{"a": 2}\r'),
    "an empty document": ("{}\n", {("a", "b"): "c"}, '{"a": {"b": "c"}}\n'),
    "an empty document on two lines": ("{\n}\n", {("a", "b"): "c"}, '{\n  "a": {\n    "b": "c"\n  }\n}\n'),
    "empty objects and arrays": (
        '{\n "a": {},\n "b": { },\n "c": [],\n "d": {\n }\n}\n',
        {("a", "x"): 1, ("b", "x"): 1, ("c",): AppendItem("x"), ("d", "x"): 1},
        '{\n "a": {\n  "x": 1\n },\n "b": {\n  "x": 1\n },\n "c": [\n  "x"\n ],\n "d": {\n  "x": 1\n }\n}\n',
    ),
    "an empty object on one line": (
        '{"a": { }, "b": [ ]}',
        {("a", "x"): 1, ("b",): AppendItem(2)},
        '{"a": { "x": 1 }, "b": [ 2 ]}',
    ),
    "null becomes an object": ('{"a": null, "b": 1}', {("a", "x"): "y"}, '{"a": {"x": "y"}, "b": 1}'),
    "strings are escaped": (
        '{"a": "b\\"c", "\\u0064": "\\/"}',
        {("a",): 'q"\\\n\u2028é😀', ("d",): "x: [y]", ('k"',): "", ("n",): "null"},
        '{"a": "q\\"\\\\\\n\\u2028é😀", "\\u0064": "x: [y]", "k\\"": "", "n": "null"}',
    ),
    "the type of a value counts": (
        '{"a": 1, "b": true, "c": "5", "d": 1, "e": 1e3}',
        {("a",): "1", ("b",): "true", ("c",): 5, ("d",): 1.0, ("e",): 1000},
        '{"a": "1", "b": "true", "c": 5, "d": 1.0, "e": 1000}',
    ),
    "brackets and keys inside a string": (
        '{"x": "{\\"a\\": 1, [", "a": "}]", "b": {"x": ",\\"a\\": 2"}}',
        {("a",): 2, ("b", "a"): 3},
        '{"x": "{\\"a\\": 1, [", "a": 2, "b": {"x": ",\\"a\\": 2", "a": 3}}',
    ),
    "keys go": (
        '{"a": 1, "b": 2, "c": 3, "d": 4}',
        {("a",): REMOVE, ("c",): REMOVE, ("d",): REMOVE},
        '{"b": 2}',
    ),
    "keys at the beginning go": ('{ "a": 1, "b": 2,"c": 3 }', {("a",): REMOVE, ("b",): REMOVE}, '{ "c": 3 }'),
    "the last key on several lines goes": (
        '{\n  "a": 1,\n  "b": {\n    "c": 1\n  }\n}\n',
        {("b", "c"): REMOVE},
        '{\n  "a": 1\n}\n',
    ),
    "all keys go": ('{\n  "a": 1,\n  "b": 2\n}\n', {("a",): REMOVE, ("b",): REMOVE}, "{}\n"),
    "the last key goes and another comes": (
        '{\n  "a": 1,\n  "b": 2\n}\n',
        {("b",): REMOVE, ("c",): 3},
        '{\n  "a": 1,\n  "c": 3\n}\n',
    ),
    "all keys go and others come": (
        '{ "a": 1,\n  "b": 2 }',
        {("a",): REMOVE, ("b",): REMOVE, ("c",): 3, ("d",): 4},
        '{ "c": 3,\n  "d": 4 }',
    ),
    "one item more": (
        '{"a": ["x"], "b": [\n  "x",\n  "y"\n], "c": [1,2]}',
        {("a",): AppendItem("z"), ("b",): AppendItem("z"), ("c",): AppendItem(3), ("d",): AppendItem("z")},
        '{"a": ["x", "z"], "b": [\n  "x",\n  "y",\n  "z"\n], "c": [1,2,3], "d": ["z"]}',
    ),
    "one item less": (
        '{"a": ["x"], "b": [\n  "x",\n  "y"\n], "c": [\n  "y",\n  "x"\n], "d": ["y", "x", "z"], "e": [\n  "x"\n]}',
        {(key,): RemoveItem("x") for key in "abcdef"},
        '{"a": [], "b": [\n  "y"\n], "c": [\n  "y"\n], "d": ["y", "z"], "e": []}',
    ),
    "a list becomes another": (
        '{\n  "a": [\n    "x",\n    "y"\n  ],\n  "b": ["x"]\n}',
        {("a",): ["z"], ("b",): ["y", "z"]},
        '{\n  "a": [\n    "z"\n  ],\n  "b": ["y", "z"]\n}',
    ),
    "a list of objects": (
        '{\n  "a": 1\n}\n',
        {("reservedMemory",): [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
        '{\n  "a": 1,\n  "reservedMemory": [\n    {\n      "numaNode": 0,\n      "limits": {\n'
        '        "memory": "1Gi"\n      }\n    }\n  ]\n}\n',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_json_text_is_edited_once_and_a_second_edit_changes_nothing(name: str) -> None:
    before, changes, after = CASES[name]
    assert edit_json(before, changes) == after
    json.loads(after.removeprefix("\ufeff"))
    assert edit_json(after, changes) == after


@pytest.mark.parametrize("text", ['{"a": {"b": "c"}}', "{ }", '{"a": {"b": "c", "x": 1.0}}'])
def test_a_text_with_all_desired_values_stays_the_same_object(text: str) -> None:
    assert edit_json(text, {("a", "d"): REMOVE, ("e",): REMOVE}) is text


REFUSED: dict[str, tuple[str, dict[tuple[str, ...], Any], int, str]] = {
    "a path through a scalar": ('{"a": 1,\n"b": "x"}', {("b", "c"): 1}, 2, "b is not a mapping"),
    "a path through a list": ('{"a": 1,\n"b": ["x"]}', {("b", "c"): 1}, 2, "b is not a mapping"),
    "a path through a text that reads null": ('{"b": "null"}', {("b", "c"): 1}, 1, "b is not a mapping"),
    "a scalar for an object": ('{"a": 1,\n"b": {"c": 1}}', {("b",): 1}, 2, "b holds a mapping"),
    "an item for a value that is not a list": ('{"b": "x"}', {("b",): AppendItem("y")}, 1, "b is not a list"),
    "an item removed from a value that is not a list": (
        '{"b": {"c": 1}}',
        {("b",): RemoveItem("c")},
        1,
        "b is not a list",
    ),
    "an item that is there twice": ('{"b": ["x", "x"]}', {("b",): RemoveItem("x")}, 1, "holds an item twice"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsafe_edit_is_refused_with_its_line(name: str) -> None:
    text, changes, line, message = REFUSED[name]
    with pytest.raises(UnsupportedEdit, match=message) as raised:
        edit_json(text, changes)
    assert raised.value.line == line
    assert raised.value.remedy


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have(number: float) -> None:
    with pytest.raises(EditError, match="neither NaN nor infinity"):
        edit_json("{}", {("a",): number})


UNREADABLE: dict[str, tuple[str, int | None, str]] = {
    "YAML's flow style": ("{a: 1}", 1, "a key without double quotes"),
    "a list": ("[1]", 1, "not a mapping"),
    "a number": ("5", 1, "not a mapping"),
    "nothing": ("", 1, "a missing value"),
    "a key twice": ('{"a": 1,\n "b": {"c": 1,\n "\\u0063": 2}}', 3, "key 'c' is set twice, first in line 2"),
    "a key twice in a list": ('{"a": [[{"b": 1,\n"b": 2}]]}', 2, "key 'b' is set twice"),
    "an infinity": ('{"a": "Infinity",\n"b": -Infinity}', 2, "-Infinity, which is not a number of JSON"),
    "a control character": ('{"a":\n"\t"}', 2, "another control character in a text"),
    "a byte that is not UTF-8": ('{"a":\n"\udce9"}', 2, "a character that JSON does not allow"),
    "a level too many": ('{"a":' * 101 + "1" + "}" * 101, None, "nested deeper"),
    "levels without end": ('{"a":' * 100_000 + "1" + "}" * 100_000, None, "nested deeper"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_text_that_is_not_json_is_not_read(name: str) -> None:
    text, line, message = UNREADABLE[name]
    with pytest.raises(ParseError, match=message) as raised:
        read_json(text)
    assert raised.value.line == line


def test_numbers_are_those_of_go() -> None:
    text = f'{{"a": {2**63}, "b": {2**64}, "c": -1, "d": 1E3, "e": {"9" * 5000}}}'
    assert read_json(text) == {"a": 2**63, "b": float(2**64), "c": -1, "d": 1000.0, "e": float("inf")}
