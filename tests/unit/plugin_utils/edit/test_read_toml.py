# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's TOML, with tomllib and without it."""

from __future__ import annotations

import sys

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import MissingLibrary, ParseError


@pytest.fixture(params=["tomllib", "tomli"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Python 3.10 has no tomllib."""
    name = str(request.param)
    if name == "tomli":
        monkeypatch.setitem(sys.modules, "tomllib", None)
    return name


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("# version = 2\n", {}),
        ("\ufeffversion = 2", {"version": 2}),
        ('version = 2\r\n[a."b.c"]\r\nd = [\r\n"x", # ]\r\n]\r\n', {"version": 2, "a": {"b.c": {"d": ["x"]}}}),
        ("[[a]]\nb.c = true\n[[a]]\n", {"a": [{"b": {"c": True}}, {}]}),
    ],
)
def test_tables_are_dicts(text: str, values: dict[str, object]) -> None:
    read = read_toml(text)
    assert read == values
    assert read.__class__ is dict


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb =\n", 2),
        ("a = 1\n\na = 2\n", 3),
        ("[a]\nx = 1\n[a]\n", 3),
        ("a = 1\n[b\n", 2),
        ("x = yes\n", 1),
        ("\ufeffx = 1\r\ny = \x01\r\n", 2),
    ],
)
def test_an_error_names_the_line(text: str, line: int) -> None:
    with pytest.raises(ParseError) as raised:
        read_toml(text)
    assert raised.value.line == line
    assert raised.value.column is not None
    assert str(raised.value).startswith(f"line {line}: ")
    assert "(at line" not in str(raised.value)


@pytest.mark.usefixtures("parser")
def test_a_text_that_breaks_off_is_an_error_at_its_end() -> None:
    with pytest.raises(ParseError, match="the text ends within a value") as raised:
        read_toml("a = 1\nb = [1,")
    assert raised.value.line == 2


@pytest.mark.usefixtures("parser")
def test_a_table_made_twice_is_an_error() -> None:
    with pytest.raises(ParseError):
        read_toml("[a]\nb.c = 1\n[a.b]\nd = 1\n")


@pytest.mark.usefixtures("parser")
def test_a_hostile_depth_is_refused() -> None:
    with pytest.raises(ParseError):
        read_toml("a = " + "[" * 100_000)


@pytest.mark.usefixtures("parser")
def test_a_hostile_number_is_refused() -> None:
    with pytest.raises(ParseError):
        read_toml("a = " + "1" * 5000)


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tomllib", "tomli"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingLibrary, match="tomli") as raised:
        read_toml("a = 1\n")
    assert raised.value.requirement.startswith("tomli>=")
