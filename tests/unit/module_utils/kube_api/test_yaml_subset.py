# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.module_utils.kube_api.yaml_subset import UnsupportedSyntax, parse

SECRET = "hunter2"

UNDERSTOOD: list[tuple[str, Any]] = [
    ("", None),
    ("# only a comment\n\n", None),
    ("\ufeff---\na: 1\n", {"a": "1"}),
    ("a: b\r\nc: d\r\n", {"a": "b", "c": "d"}),
    ("a:\nb: ~\nc: null\n", {"a": None, "b": None, "c": None}),
    ("a: # nothing\nb: # c: d\n", {"a": None, "b": None}),
    ("a: true\nb: False\nc: 'true'\n", {"a": True, "b": False, "c": "true"}),
    ("a: {}\nb: []  # none\n", {"a": {}, "b": []}),
    ("a: x#y # z\n", {"a": "x#y"}),
    ("a: https://[::1]:6443/x\n", {"a": "https://[::1]:6443/x"}),
    ("""a: "x: \\"y\\" \\u00e4 # z" # c\nb: 'it''s'\n""", {"a": 'x: "y" ä # z', "b": "it's"}),
    ("\"a\": b\n'c' : d\n", {"a": "b", "c": "d"}),
    ("a:\n- b\n- c\n", {"a": ["b", "c"]}),
    ("a:\n  - b\n  -   c\n", {"a": ["b", "c"]}),
    ("a:\n- b: c\n  d:\n    e: f\n-\n  g: h\n-\n", {"a": [{"b": "c", "d": {"e": "f"}}, {"g": "h"}, None]}),
    ("- - a\n  - b\n- c\n", [["a", "b"], "c"]),
    ("a:\n    b: c\nd: e\n", {"a": {"b": "c"}, "d": "e"}),
]
REFUSED: list[tuple[str, int, str]] = [
    (f"a: &x {SECRET}\n", 1, "an anchor"),
    (f"b: c\na: *{SECRET}\n", 2, "an alias"),
    (f"a: !!str {SECRET}\n", 1, "a tag"),
    (f"a: |\n  {SECRET}\n", 1, "a multi-line string"),
    (f"a: >-\n  {SECRET}\n", 1, "a multi-line string"),
    (f"a: {{b: {SECRET}}}\n", 1, "a flow mapping"),
    (f"a:\n- [{SECRET}]\n", 2, "a flow list"),
    (f"a: b\n---\nc: {SECRET}\n", 2, "it begins another document, or a directive"),
    (f"%YAML 1.2\n---\na: {SECRET}\n", 1, "it begins another document, or a directive"),
    (f"--- {SECRET}\n", 1, "it begins another document, or a directive"),
    ("---\n---\n", 2, "it begins another document, or a directive"),
    ("a: b\n...\n", 2, "it begins another document, or a directive"),
    (f"a: {SECRET}\n  {SECRET}\n", 2, "it continues the value of the line before"),
    (f"a:\n- {SECRET}\n  {SECRET}\n", 3, "it continues the value of the line before"),
    (f"a: '{SECRET}\n  x'\n", 1, "a quoted string that does not end on its line"),
    (f'a: "{SECRET}" x\n', 1, "a quoted string that does not end on its line"),
    (f'a: "{SECRET}\\x41"\n', 1, "an escape sequence that JSON does not have"),
    (f"a:\n\tb: {SECRET}\n", 2, "it is indented by a tab"),
    (f"a: b\na: {SECRET}\n", 2, "its key is a duplicate"),
    (f"{SECRET}\n", 1, "it is not a key with a value"),
    (f"? {SECRET}\n: b\n", 1, "it is not a key with a value"),
    (f"<<: {SECRET}\n", 1, "it is not a key with a value"),
    (f"a: b: {SECRET}\n", 1, "a mapping or a list within a value"),
    (f"a: - {SECRET}\n", 1, "a mapping or a list within a value"),
    (f"a: @{SECRET}\n", 1, "a character that cannot start a value"),
    (f"  a: b\n c: {SECRET}\n", 2, "its indentation matches no line before it"),
    ("- " * 20 + "a\n", 1, "it is nested too deeply"),
    (f"a: b\x0b{SECRET}\n", 1, "an invisible character"),
]


@pytest.mark.parametrize(("text", "value"), UNDERSTOOD)
def test_supported_syntax(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(("text", "line", "what"), REFUSED)
def test_unsupported_syntax_is_named_by_its_line_and_not_quoted(text: str, line: int, what: str) -> None:
    with pytest.raises(UnsupportedSyntax) as caught:
        parse(text)
    assert (caught.value.line, caught.value.message) == (line, what)
    assert SECRET not in str(caught.value)


@given(some.text(alphabet="ab:-# '\"\n\t{}[]|&*", max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    line: int | None = 1
    try:
        parse(text)
    except UnsupportedSyntax as error:
        line = error.line
    assert line is not None


VALUES = some.one_of(some.none(), some.booleans(), some.text(max_size=12))
NAMES = some.text(alphabet="abc-_", min_size=1, max_size=6).filter(lambda name: not name.startswith("-"))
MAPS = some.dictionaries(NAMES, VALUES, min_size=1, max_size=4)


@given(some.dictionaries(NAMES, some.one_of(VALUES, MAPS, some.lists(MAPS, min_size=1, max_size=3)), min_size=1))
def test_output_of_the_yaml_library_is_parsed_like_by_the_library(document: dict[str, Any]) -> None:
    yaml = pytest.importorskip("yaml")
    text = yaml.safe_dump(document, width=1 << 20, allow_unicode=True)
    try:
        parsed = parse(text)
    except UnsupportedSyntax:
        # A multi-line string, or an escape sequence that only YAML has.
        return
    assert texts(parsed) == texts(yaml.safe_load(text))


def texts(value: Any) -> Any:
    """Convert numbers and dates to strings, as no field of a kubeconfig is a number or date."""
    if isinstance(value, dict):
        return {key: texts(child) for key, child in value.items()}
    if isinstance(value, list):
        return [texts(child) for child in value]
    return value
