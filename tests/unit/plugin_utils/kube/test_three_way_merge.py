# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three ways: what is desired, what was desired last, and what there is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import (
    apply_patch,
    combine_undo,
    removal_patch,
    undo_patch,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.three_way_merge import (
    Absent,
    Drift,
    MergeRules,
    covers,
    merge,
)

KEEP, RESET = MergeRules(Absent.ZERO, Drift.KEEP), MergeRules(Absent.EMPTY, Drift.RESET)

# live, wanted, last -> change, kept, conflicts
WAYS: dict[str, tuple[Any, Any, Any, Any, list[str], list[str]]] = {
    "nothing new": ({"a": 1, "b": 2}, {"a": 1}, {"a": 1}, {}, [], []),
    "a new value": ({"a": 1, "b": 2}, {"a": 3}, {"a": 1}, {"a": 3}, [], []),
    "set by others since": ({"a": 9}, {"a": 1}, {"a": 1}, {}, ["a"], []),
    "taken away by others since": ({}, {"a": 1}, {"a": 1}, {}, ["a"], []),
    "both changed": ({"a": 9}, {"a": 3}, {"a": 1}, {"a": 3}, [], ["a"]),
    "a default that is now said": ({"a": 1}, {"a": 2}, {}, {"a": 2}, [], []),
    "a field that others have, too": ({"m": {"x": 1}}, {"m": {"y": 2}}, {}, {"m": {"y": 2}}, [], []),
    "said no longer": ({"a": 1, "b": 2}, {}, {"a": 1}, {"a": None}, [], []),
    "said no longer, and changed": ({"a": 9}, {}, {"a": 1}, {}, ["a"], []),
    "said no longer, further down": ({"m": {"x": 1, "y": 2}}, {}, {"m": {"x": 1}}, {"m": {"x": None}}, [], []),
    "said no longer, beside what is said": (
        {"m": {"x": 1, "y": 2}},
        {"m": {"y": 2}},
        {"m": {"x": 1, "y": 2}},
        {"m": {"x": None}},
        [],
        [],
    ),
    "said no longer, and gone": ({}, {}, {"a": 1}, {}, [], []),
    "said no longer, and nobody else's": (
        {"s": {"m": {"x": 1}}},
        {"s": {}},
        {"s": {"m": {"x": 1}}},
        {"s": {"m": None}},
        [],
        [],
    ),
    "an amount that is said no longer": (
        {"r": {"limits": {"a.b/c": "1", "x": "2"}}},
        {"r": {}},
        {"r": {"limits": {"a.b/c": "1000m"}}},
        {"r": {"limits": {"a.b/c": None}}},
        [],
        [],
    ),
    "an amount whose name has dots": (
        {"limits": {"a.b/c": "1"}},
        {"limits": {"a.b/c": "1000m"}},
        {},
        {},
        [],
        [],
    ),
    "annotations of the object": (
        {"metadata": {"annotations": {"x": "1"}}},
        {"metadata": {"annotations": {}}},
        {"metadata": {"annotations": {"x": "1"}}},
        {"metadata": {"annotations": {"x": None}}},
        [],
        [],
    ),
    "a probe, with what the server fills": (
        {"c": {"livenessProbe": {"httpGet": {"port": 1, "scheme": "HTTP"}, "timeoutSeconds": 1}}},
        {"c": {}},
        {"c": {"livenessProbe": {"httpGet": {"port": 1}}}},
        {"c": {"livenessProbe": None}},
        [],
        [],
    ),
    "a probe that others changed": (
        {"c": {"livenessProbe": {"httpGet": {"port": 2, "scheme": "HTTP"}, "timeoutSeconds": 1}}},
        {"c": {}},
        {"c": {"livenessProbe": {"httpGet": {"port": 1}}}},
        {},
        ["c.livenessProbe.httpGet.port"],
        [],
    ),
    "an empty field": ({"a": 1}, {"b": {}, "c": [], "d": None, "e": False, "f": 0}, {}, {}, [], []),
    "an amount": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, {}, {}, [], []),
    "another amount": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, {}, {"limits": {"cpu": "2"}}, [], []),
    "no amount": ({"limits": {"cpu": "x"}}, {"limits": {"cpu": "x"}}, {}, {}, [], []),
    "a version": ({"data": {"v": "1.10"}}, {"data": {"v": "1.1"}}, {}, {"data": {"v": "1.1"}}, [], []),
    "plain items": ({"a": [1, 2]}, {"a": [1]}, {"a": [1, 2]}, {"a": [1]}, [], []),
    "a mapping in place of a text": ({"a": "x"}, {"a": {"b": 1}}, {}, {"a": {"b": 1}}, [], []),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_three_way_case_has_its_change_what_is_kept_and_its_conflicts(name: str) -> None:
    live, wanted, last, change, kept, conflicts = WAYS[name]
    found = merge(live, wanted, last, KEEP)
    assert (found.change, found.preserved, found.conflicts) == (change, kept, conflicts)


def named(**items: Any) -> dict[str, Any]:
    return {"c": [{"name": name, **each} for name, each in items.items()]}


LISTS: dict[str, tuple[Any, Any, Any, Any, list[str]]] = {
    "defaults in items": (named(a={"x": 1, "d": 0}), named(a={"x": 1}), named(a={"x": 1}), {}, []),
    "a new value": (
        named(a={"x": 1, "d": 5}, side={}),
        named(a={"x": 2}),
        named(a={"x": 1}),
        named(a={"x": 2, "d": 5}, side={}),
        [],
    ),
    "a value that was dropped": (named(a={"x": 1, "d": 0}), named(a={}), named(a={"x": 1}), named(a={"d": 0}), []),
    "an amount in an item": (
        named(a={"limits": {"cpu": "1", "x": "2"}}),
        named(a={"limits": {"cpu": "1000m"}}),
        {},
        {},
        [],
    ),
    "an item of others": (named(a={"x": 1}, side={}), named(a={"x": 1}), named(a={"x": 1}), {}, []),
    "an item that was dropped": (named(a={}, b={}), named(a={}), named(a={}, b={}), named(a={}), []),
    "an item that is new": (named(a={}), named(b={}, a={}), named(a={}), named(b={}, a={}), []),
    "an item that others took away": (named(a={}), named(a={}, b={"x": 1}), named(a={}, b={"x": 1}), {}, ["c[b]"]),
    "an item that others changed": (named(a={"x": 9}), named(a={"x": 1}), named(a={"x": 1}), {}, ["c[a].x"]),
    "a list that was dropped": (named(a={"x": 1}), {}, named(a={"x": 1}), {"c": None}, []),
    "a list that was dropped, beside an item of others": (
        named(a={"x": 1}, side={}),
        {},
        named(a={"x": 1}),
        named(side={}),
        [],
    ),
    "a list that is empty now, beside an item of others": (
        named(a={"x": 1}, side={}),
        {"c": []},
        named(a={"x": 1}),
        named(side={}),
        [],
    ),
    "a list that was dropped, and changed": (named(a={"x": 9}), {}, named(a={"x": 1}), {}, ["c"]),
    "names twice": ({"c": [{"name": "a"}, {"name": "a"}]}, named(a={}), {}, named(a={}), []),
}


@pytest.mark.parametrize("name", LISTS)
def test_items_with_names_are_told_apart(name: str) -> None:
    live, wanted, last, change, kept = LISTS[name]
    found = merge(live, wanted, last, KEEP)
    assert (found.change, found.preserved, found.conflicts) == (change, kept, [])


@pytest.mark.parametrize("name", ["set by others since", "taken away by others since", "both changed"])
def test_what_others_changed_is_reset_where_that_is_the_rule(name: str) -> None:
    live, wanted, last, _change, _kept, _conflicts = WAYS[name]
    found = merge(live, wanted, last, RESET)
    assert (found.change, found.preserved, found.conflicts) == (wanted, [], [])
    item = merge(named(a={"x": 9}, side={}), named(a={"x": 1}, b={}), named(a={"x": 1}, b={}), RESET)
    assert item.change == named(a={"x": 1}, b={}, side={})


def test_a_volume_of_another_kind_has_one_source() -> None:
    live = named(a={"hostPath": {"path": "/a", "type": ""}}, b={"emptyDir": {}})
    last = named(a={"hostPath": {"path": "/a"}}, b={"emptyDir": {}})
    desired = named(a={"emptyDir": {}}, b={"hostPath": {"path": "/b"}})
    assert merge(live, desired, last, MergeRules(Absent.DIFFERS, Drift.RESET)).change == desired


def test_subjects_of_one_name_are_told_apart() -> None:
    ours = {"kind": "ServiceAccount", "namespace": "a", "name": "x"}
    theirs = [{"kind": "User", "name": "x"}, {**ours, "namespace": "b"}]
    moved = {**ours, "namespace": "c"}
    assert merge({"subjects": [*theirs, ours]}, {"subjects": [ours]}, {"subjects": [ours]}, RESET).change == {}
    change = merge({"subjects": [*theirs, ours]}, {"subjects": [moved]}, {"subjects": [ours]}, RESET).change
    assert change == {"subjects": [moved, *theirs]}


ALL = set(Absent)
EMPTY, ZERO = {Absent.EMPTY, Absent.ZERO}, {Absent.ZERO}


@pytest.mark.parametrize(
    ("found", "desired", "same"),
    [
        (4, "4", ALL),
        (8443, "8443", ALL),
        (True, True, ALL),
        ("true", True, set()),
        (True, "true", set()),
        (False, 0, ZERO),
        (None, None, ALL),
        (None, {}, EMPTY),
        ({}, None, EMPTY),
        ([], {}, EMPTY),
        (None, "", ZERO),
        (None, False, ZERO),
        (False, None, ZERO),
        (None, 0, ZERO),
        (3, None, set()),
        ({"hostPath": {}}, {"emptyDir": {}}, EMPTY),
        ([{"a": 1, "more": 2}], [{"a": 1}], ALL),
        ([1, 2], [1], set()),
        ([1], [1, 2], set()),
        ({"a": 1}, {"a": 1, "b": None}, ALL),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, ALL),
        ({"data": {"v": "1.10"}}, {"data": {"v": "1.1"}}, set()),
    ],
)
def test_what_says_the_same(found: Any, desired: Any, same: set[Absent]) -> None:
    assert {each for each in Absent if covers(found, desired, each)} == same


leaves = st.sampled_from(["a", "b", 1, True, [1], [1, 2]])
inner = st.dictionaries(st.sampled_from("xyz"), leaves, min_size=1, max_size=2)
# A field is a mapping or is none; no API makes one of the other.
documents = st.fixed_dictionaries(
    {}, optional={"leaf": leaves, "map": inner, "deep": st.fixed_dictionaries({"in": inner})}
)


@given(documents, documents)
def test_a_patched_document_says_all_that_is_desired_and_needs_no_more(
    found: dict[str, Any], desired: dict[str, Any]
) -> None:
    change = merge(found, desired, {}, RESET).change
    after = apply_patch(found, change)
    assert covers(after, desired, RESET.absent)
    assert merge(after, desired, {}, RESET).change == {}
    assert apply_patch(after, undo_patch(found, change)) == found


@given(documents, documents, documents)
def test_two_changes_go_back_as_one(found: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    one = merge(found, first, {}, RESET).change
    between = apply_patch(found, one)
    two = merge(between, second, {}, RESET).change
    back = combine_undo(undo_patch(found, one), undo_patch(between, two))
    assert apply_patch(apply_patch(between, two), back) == found


def test_what_is_no_longer_desired_is_as_it_was_unless_another_client_changed_it() -> None:
    found = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "1Gi", "pods": "9"}}}
    ours = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "2Gi"}}}
    made, desired = removal_patch(ours), {"spec": {"weight": 3, "capability": {"pods": "9"}}}
    assert made == {"spec": {"weight": None, "capability": {"cpu": None, "memory": None}}}

    def change(desired: dict[str, Any], undo: dict[str, Any] | None) -> dict[str, Any]:
        return merge(found, desired, ours, RESET, undo).change

    assert change(desired, made) == change(desired, None) == {"spec": {"weight": 3, "capability": {"cpu": None}}}
    assert change(desired, {"spec": {"capability": {"cpu": "4"}}})["spec"]["capability"] == {"cpu": "4"}
    assert change(desired, {}) == {"spec": {"weight": 3}}
    assert change({"spec": {"weight": 2}}, made) == {"spec": {"capability": {"cpu": None}}}
