# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wanted values against a document: what is missing, what must come out."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.changes import (
    EMPTIED,
    REMOVE,
    Append,
    Dropped,
    Without,
    tree,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document import (
    Fate,
    applied,
    difference,
    needed,
    pruned,
)

NOTHING: Any = None


def _itself(text: str) -> str:
    return text


class Tagged(str):
    """Like the strings that ansible-core 2.19 hands over."""

    __str__ = _itself


def test_values_become_builtins() -> None:
    built = tree({(Tagged("a"), Tagged("b")): Tagged("x"), ("c",): (Tagged("y"),), ("d",): True, ("e",): REMOVE})
    assert built == {"a": {"b": "x"}, "c": ["y"], "d": True, "e": REMOVE}
    below = built["a"]
    assert isinstance(below, dict)
    assert [type(key) for key in (*built, *below)] == [str] * 5
    assert below["b"].__class__ is str


@pytest.mark.parametrize("value", [None, {"a": 1}, [None], [{1: "a"}], b"x", object(), EMPTIED, Append(NOTHING)])
def test_other_types_are_a_mistake_of_the_caller(value: Any) -> None:
    with pytest.raises(TypeError):
        tree({("a",): value})


@pytest.mark.parametrize(
    "paths",
    [[()], [("a",), ("a", "b")], [("a", "b"), ("a",)], [("a", "b", "c"), ("a", "b")], [("a", "b"), ("a", "b", "c")]],
)
def test_overlapping_paths_are_a_mistake_of_the_caller(paths: list[tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match=r"overlap|at least one key"):
        tree(dict.fromkeys(paths, 1))


DOCUMENT = {"a": 1, "b": {"c": "x", "d": True}, "n": None, "e": {}, "l": ["p"]}


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({("a",): 1, ("b", "c"): "x", ("l",): ["p"]}, {}),
        ({("a",): True}, {"a": True}),
        ({("a",): 1.0}, {"a": 1.0}),
        ({("b", "d"): 1}, {"b": {"d": 1}}),
        ({("l",): ["q"]}, {"l": ["q"]}),
        ({("x",): REMOVE, ("b", "x"): REMOVE, ("n", "x"): REMOVE, ("y", "z"): REMOVE, ("a", "x"): REMOVE}, {}),
        ({("b", "c"): REMOVE}, {"b": {"c": REMOVE}}),
        ({("b", "c"): REMOVE, ("b", "d"): REMOVE}, {"b": {"c": REMOVE, "d": REMOVE}}),
        ({("l",): Append("p"), ("m",): Append("q"), ("n",): Append("r")}, {"m": ["q"], "n": ["r"]}),
        ({("l",): Append("q"), ("a",): Append("q")}, {"l": Append("q"), "a": Append("q")}),
        ({("l",): Without("q"), ("m",): Without("q"), ("n",): Without("r"), ("y", "z"): Without("x")}, {}),
        ({("l",): Without("p"), ("a",): Without("p")}, {"l": Dropped((0,)), "a": Dropped(())}),
        ({("b", "c"): REMOVE, ("b", "d"): REMOVE, ("b", "e"): 1}, {"b": {"c": REMOVE, "d": REMOVE, "e": 1}}),
        ({("e", "x"): REMOVE}, {}),
        ({("n", "x"): 1, ("n", "y", "z"): REMOVE}, {"n": {"x": 1}}),
        ({("n",): REMOVE}, {"n": REMOVE}),
    ],
)
def test_only_what_is_missing_is_left(changes: Any, left: Any) -> None:
    assert needed(DOCUMENT, tree(changes)) == left


@pytest.mark.parametrize(
    ("fates", "left"),
    [
        ({}, {"a": REMOVE}),
        ({("a", "b"): Fate.STAYS}, {"a": {"b": {"c": REMOVE}}}),
        ({("a",): Fate.STAYS}, {"a": {"b": REMOVE}}),
        ({("a",): Fate.NULL}, {"a": EMPTIED}),
    ],
)
def test_a_chain_of_emptied_mappings_goes_as_far_as_it_may(fates: Any, left: Any) -> None:
    todo: Any = {"a": {"b": {"c": REMOVE}}}
    assert pruned({"a": {"b": {"c": 1}}, "d": 1}, todo, lambda path: fates.get(path, Fate.GOES)) == left


@pytest.mark.parametrize("left", [{"c": REMOVE}, {"c": REMOVE, "d": REMOVE, "e": 1}, {"c": 2, "d": REMOVE}])
def test_a_mapping_with_a_key_left_is_not_emptied(left: Any) -> None:
    assert pruned(DOCUMENT, {"b": left}, lambda path: Fate.GOES) == {"b": left}


def test_the_document_itself_stays_as_it_is() -> None:
    document = {"a": 1, "b": {"c": 1}, "n": None, "e": {"f": 1}, "l": [1], "m": [1, 2, 3]}
    todo: Any = {"a": REMOVE, "b": {"d": 2}, "n": {"x": {"y": 1}}, "e": EMPTIED, "l": Append(3), "m": Dropped((1,))}
    result = applied(document, todo)
    assert result == {"b": {"c": 1, "d": 2}, "n": {"x": {"y": 1}}, "e": None, "l": [1, 3], "m": [1, 3]}
    assert document == {"a": 1, "b": {"c": 1}, "n": None, "e": {"f": 1}, "l": [1], "m": [1, 2, 3]}


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": float("nan")}, {"a": float("nan")}, None),
        ({"a": 1}, {"a": True}, ("a",)),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ("a", "b")),
        ({"a": {"b": 1}}, {"a": {}}, ("a", "b")),
        ({}, {"a": 1}, ("a",)),
        ({"a": [1, 2]}, {"a": [1]}, ("a",)),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ("a",)),
        ({"a": [1]}, {"a": [1]}, None),
    ],
)
def test_the_first_difference_is_named(first: Any, second: Any, path: Any) -> None:
    assert difference(first, second) == path
