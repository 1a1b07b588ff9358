# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Desired values compared with a document: the missing edits, and the document after them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.document_changes import (
    EMPTIED,
    REMOVE,
    AppendItem,
    EmptiedMapping,
    ItemRemoval,
    RemoveItem,
    apply_edits,
    differing_path,
    missing_edits,
    prune_emptied,
    to_tree,
)

NOTHING: Any = None


def _itself(text: str) -> str:
    return text


class Tagged(str):
    """Like the strings that ansible-core 2.19 passes."""

    __str__ = _itself


def test_values_become_builtins() -> None:
    built = to_tree({(Tagged("a"), Tagged("b")): Tagged("x"), ("c",): (Tagged("y"),), ("d",): True, ("e",): REMOVE})
    assert built == {"a": {"b": "x"}, "c": ["y"], "d": True, "e": REMOVE}
    below = built["a"]
    assert isinstance(below, dict)
    assert [type(key) for key in (*built, *below)] == [str] * 5
    assert below["b"].__class__ is str


def test_a_plan_shows_desired_values_in_words() -> None:
    assert [str(desired) for desired in (REMOVE, AppendItem("x"), RemoveItem("y"))] == ["absent", "with x", "without y"]


@pytest.mark.parametrize("value", [None, {"a": 1}, [None], [{1: "a"}], b"x", object(), EMPTIED, AppendItem(NOTHING)])
def test_other_types_are_a_mistake_of_the_caller(value: Any) -> None:
    with pytest.raises(TypeError):
        to_tree({("a",): value})


@pytest.mark.parametrize(
    "paths",
    [[()], [("a",), ("a", "b")], [("a", "b"), ("a",)], [("a", "b", "c"), ("a", "b")], [("a", "b"), ("a", "b", "c")]],
)
def test_overlapping_paths_are_a_mistake_of_the_caller(paths: list[tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match=r"overlap|at least one key"):
        to_tree(dict.fromkeys(paths, 1))


DOCUMENT = {"a": 1, "b": {"c": "x", "d": True}, "n": None, "e": {}, "l": ["p"]}


@pytest.mark.parametrize(
    ("changes", "remaining"),
    [
        ({("a",): 1, ("b", "c"): "x", ("l",): ["p"]}, {}),
        ({("a",): True}, {"a": True}),
        ({("a",): 1.0}, {"a": 1.0}),
        ({("b", "d"): 1}, {"b": {"d": 1}}),
        ({("l",): ["q"]}, {"l": ["q"]}),
        ({("x",): REMOVE, ("b", "x"): REMOVE, ("n", "x"): REMOVE, ("y", "z"): REMOVE, ("a", "x"): REMOVE}, {}),
        ({("b", "c"): REMOVE}, {"b": {"c": REMOVE}}),
        ({("b", "c"): REMOVE, ("b", "d"): REMOVE}, {"b": {"c": REMOVE, "d": REMOVE}}),
        ({("l",): AppendItem("p"), ("m",): AppendItem("q"), ("n",): AppendItem("r")}, {"m": ["q"], "n": ["r"]}),
        ({("l",): AppendItem("q"), ("a",): AppendItem("q")}, {"l": AppendItem("q"), "a": AppendItem("q")}),
        ({("l",): RemoveItem("q"), ("m",): RemoveItem("q"), ("n",): RemoveItem("r"), ("y", "z"): RemoveItem("x")}, {}),
        ({("l",): RemoveItem("p"), ("a",): RemoveItem("p")}, {"l": ItemRemoval((0,)), "a": ItemRemoval(())}),
        ({("b", "c"): REMOVE, ("b", "d"): REMOVE, ("b", "e"): 1}, {"b": {"c": REMOVE, "d": REMOVE, "e": 1}}),
        ({("e", "x"): REMOVE}, {}),
        ({("n", "x"): 1, ("n", "y", "z"): REMOVE}, {"n": {"x": 1}}),
        ({("n",): REMOVE}, {"n": REMOVE}),
    ],
)
def test_only_missing_values_remain(changes: Any, remaining: Any) -> None:
    assert missing_edits(DOCUMENT, to_tree(changes)) == remaining


@pytest.mark.parametrize(
    ("outcomes", "remaining"),
    [
        ({}, {"a": REMOVE}),
        ({("a", "b"): EmptiedMapping.KEEP}, {"a": {"b": {"c": REMOVE}}}),
        ({("a",): EmptiedMapping.KEEP}, {"a": {"b": REMOVE}}),
        ({("a",): EmptiedMapping.NULL}, {"a": EMPTIED}),
    ],
)
def test_a_chain_of_emptied_mappings_is_deleted_as_far_as_allowed(outcomes: Any, remaining: Any) -> None:
    todo: Any = {"a": {"b": {"c": REMOVE}}}
    assert (
        prune_emptied({"a": {"b": {"c": 1}}, "d": 1}, todo, lambda path: outcomes.get(path, EmptiedMapping.DELETE))
        == remaining
    )


@pytest.mark.parametrize("remaining", [{"c": REMOVE}, {"c": REMOVE, "d": REMOVE, "e": 1}, {"c": 2, "d": REMOVE}])
def test_a_mapping_with_a_remaining_key_is_not_emptied(remaining: Any) -> None:
    assert prune_emptied(DOCUMENT, {"b": remaining}, lambda path: EmptiedMapping.DELETE) == {"b": remaining}


def test_the_document_itself_stays_as_it_is() -> None:
    document = {"a": 1, "b": {"c": 1}, "n": None, "e": {"f": 1}, "l": [1], "m": [1, 2, 3]}
    todo: Any = {
        "a": REMOVE,
        "b": {"d": 2},
        "n": {"x": {"y": 1}},
        "e": EMPTIED,
        "l": AppendItem(3),
        "m": ItemRemoval((1,)),
    }
    result = apply_edits(document, todo)
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
    assert differing_path(first, second) == path
