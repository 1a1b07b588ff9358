# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A written scalar is the same value to every YAML parser, and plain where agents look for plain text."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import REMOVE
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.yaml_syntax import scalar_text, value_text

# All characters except lone surrogates, which a YAML text cannot contain.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TRICKY = st.from_regex(r"[-+.0-9eExXoObB_:%~<=yYnN]{1,8}", fullmatch=True)


@pytest.mark.parametrize(
    "plain",
    [
        "systemd",
        "cgroupfs",
        "static",
        "best-effort",
        "single-numa-node",
        "500m",
        "1Gi",
        "1.5Gi",
        "10s",
        "10%",
        "/kubepods",
        "a/b.c",
    ],
)
def test_a_safe_string_is_plain(plain: str) -> None:
    assert scalar_text(plain) == plain
    assert scalar_text(plain, "'old'") == plain


NUMBER_LIKE = "0 0-1 0,2 1e3 1E3 1e 12e03 0. .5 -1 +1 0x10 0o7 0b1 1:30 1_000 2026-01-02 127.0.0.1 .inf nan"
NOT_PLAIN = 'yes No on y N TRUE null ~ = << a: [a] {a} *a &a !a %a @a `a | > \'a "a" é a,b'
SPACED = ("", "a: b", "a #b", " a", "a ", "- a", "a\nb", "a\tb", "\x7f")


@pytest.mark.parametrize("string", [*NUMBER_LIKE.split(), *NOT_PLAIN.split(), *SPACED])
def test_any_other_string_is_quoted(string: str) -> None:
    assert scalar_text(string).startswith('"')
    assert scalar_text(string, "'old'")[0] in "'\""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-5, "-5"),
        (0.8, "0.8"),
        (1e16, "1.0e+16"),
        (1.5e-7, "1.5e-07"),
        (float("inf"), ".inf"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
        (["pods", "0"], '[pods, "0"]'),
        ([], "[]"),
    ],
)
def test_values_of_other_types_are_written_as_yaml(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_quotes_are_kept_where_they_are_needed() -> None:
    assert scalar_text("0-1", "'old'") == "'0-1'"
    assert scalar_text("it's 1", "'old'") == "'it''s 1'"
    assert scalar_text("a\nb", "'old'") == '"a\\nb"'
    assert scalar_text("0-1", '"old"') == '"0-1"'


def test_a_removal_is_not_a_value() -> None:
    with pytest.raises(TypeError):
        value_text(REMOVE)


@settings(max_examples=100, deadline=None)
@given(st.one_of(TEXT, TRICKY), st.sampled_from(("", "'x'", '"x"')))
def test_every_parser_reads_the_string(string: str, like: str) -> None:
    written = scalar_text(string, like)
    for text, value in (
        (f"key: {written} # c\n", string),
        (f"key: {{a: {written}, b: [{written}]}}\n", {"a": string, "b": [string]}),
    ):
        assert read_yaml(text) == {"key": value}
        assert yaml.safe_load(text) == {"key": value}
        assert YAML(typ="safe", pure=True).load(text) == {"key": value}


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False)))
def test_every_parser_reads_the_number(value: float) -> None:
    text = f"key: {scalar_text(value)}\n"
    for read in (read_yaml(text), yaml.safe_load(text), YAML(typ="safe", pure=True).load(text)):
        assert read == {"key": value}
        assert type(read["key"]) is type(value)
