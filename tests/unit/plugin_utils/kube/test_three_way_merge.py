# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three-way merge: the desired, the last desired and the live object."""

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

# live, desired, last -> change, preserved, conflicts
CASES: dict[str, tuple[Any, Any, Any, Any, list[str], list[str]]] = {
    "nothing new": ({"a": 1, "b": 2}, {"a": 1}, {"a": 1}, {}, [], []),
    "a new value": ({"a": 1, "b": 2}, {"a": 3}, {"a": 1}, {"a": 3}, [], []),
    "set by another client": ({"a": 9}, {"a": 1}, {"a": 1}, {}, ["a"], []),
    "removed by another client": ({}, {"a": 1}, {"a": 1}, {}, ["a"], []),
    "both changed": ({"a": 9}, {"a": 3}, {"a": 1}, {"a": 3}, [], ["a"]),
    "a default that is desired now": ({"a": 1}, {"a": 2}, {}, {"a": 2}, [], []),
    "a mapping with a field of another client": ({"m": {"x": 1}}, {"m": {"y": 2}}, {}, {"m": {"y": 2}}, [], []),
    "not desired any more": ({"a": 1, "b": 2}, {}, {"a": 1}, {"a": None}, [], []),
    "not desired any more, and changed": ({"a": 9}, {}, {"a": 1}, {}, ["a"], []),
    "not desired any more, nested": ({"m": {"x": 1, "y": 2}}, {}, {"m": {"x": 1}}, {"m": {"x": None}}, [], []),
    "not desired any more, beside a desired field": (
        {"m": {"x": 1, "y": 2}},
        {"m": {"y": 2}},
        {"m": {"x": 1, "y": 2}},
        {"m": {"x": None}},
        [],
        [],
    ),
    "not desired any more, and missing": ({}, {}, {"a": 1}, {}, [], []),
    "not desired any more, without foreign fields": (
        {"s": {"m": {"x": 1}}},
        {"s": {}},
        {"s": {"m": {"x": 1}}},
        {"s": {"m": None}},
        [],
        [],
    ),
    "an amount that is not desired any more": (
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
    "a probe, with defaults of the server": (
        {"c": {"livenessProbe": {"httpGet": {"port": 1, "scheme": "HTTP"}, "timeoutSeconds": 1}}},
        {"c": {}},
        {"c": {"livenessProbe": {"httpGet": {"port": 1}}}},
        {"c": {"livenessProbe": None}},
        [],
        [],
    ),
    "a probe that another client changed": (
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


@pytest.mark.parametrize("name", CASES)
def test_each_three_way_case_has_its_change_preserved_fields_and_conflicts(name: str) -> None:
    live, desired, last, change, preserved, conflicts = CASES[name]
    merged = merge(live, desired, last, KEEP)
    assert (merged.change, merged.preserved, merged.conflicts) == (change, preserved, conflicts)


def named(**items: Any) -> dict[str, Any]:
    return {"c": [{"name": name, **fields} for name, fields in items.items()]}


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
    "an item of another client": (named(a={"x": 1}, side={}), named(a={"x": 1}), named(a={"x": 1}), {}, []),
    "an item that was dropped": (named(a={}, b={}), named(a={}), named(a={}, b={}), named(a={}), []),
    "an item that is new": (named(a={}), named(b={}, a={}), named(a={}), named(b={}, a={}), []),
    "an item that another client removed": (
        named(a={}),
        named(a={}, b={"x": 1}),
        named(a={}, b={"x": 1}),
        {},
        ["c[b]"],
    ),
    "an item that another client changed": (named(a={"x": 9}), named(a={"x": 1}), named(a={"x": 1}), {}, ["c[a].x"]),
    "a list that was dropped": (named(a={"x": 1}), {}, named(a={"x": 1}), {"c": None}, []),
    "a list that was dropped, beside a foreign item": (
        named(a={"x": 1}, side={}),
        {},
        named(a={"x": 1}),
        named(side={}),
        [],
    ),
    "a list that is empty now, beside a foreign item": (
        named(a={"x": 1}, side={}),
        {"c": []},
        named(a={"x": 1}),
        named(side={}),
        [],
    ),
    "a list that was dropped, and changed": (named(a={"x": 9}), {}, named(a={"x": 1}), {}, ["c"]),
    "duplicate names": ({"c": [{"name": "a"}, {"name": "a"}]}, named(a={}), {}, named(a={}), []),
}


@pytest.mark.parametrize("name", LISTS)
def test_named_items_are_merged_by_name(name: str) -> None:
    live, desired, last, change, preserved = LISTS[name]
    merged = merge(live, desired, last, KEEP)
    assert (merged.change, merged.preserved, merged.conflicts) == (change, preserved, [])


@pytest.mark.parametrize("name", ["set by another client", "removed by another client", "both changed"])
def test_changes_of_other_clients_are_reset_with_drift_reset(name: str) -> None:
    live, desired, last, _change, _preserved, _conflicts = CASES[name]
    merged = merge(live, desired, last, RESET)
    assert (merged.change, merged.preserved, merged.conflicts) == (desired, [], [])
    item = merge(named(a={"x": 9}, side={}), named(a={"x": 1}, b={}), named(a={"x": 1}, b={}), RESET)
    assert item.change == named(a={"x": 1}, b={}, side={})


def test_a_volume_of_another_kind_has_one_source() -> None:
    live = named(a={"hostPath": {"path": "/a", "type": ""}}, b={"emptyDir": {}})
    last = named(a={"hostPath": {"path": "/a"}}, b={"emptyDir": {}})
    desired = named(a={"emptyDir": {}}, b={"hostPath": {"path": "/b"}})
    assert merge(live, desired, last, MergeRules(Absent.DIFFERS, Drift.RESET)).change == desired


def test_subjects_of_the_same_name_are_distinguished() -> None:
    managed = {"kind": "ServiceAccount", "namespace": "a", "name": "x"}
    foreign = [{"kind": "User", "name": "x"}, {**managed, "namespace": "b"}]
    moved = {**managed, "namespace": "c"}
    assert (
        merge({"subjects": [*foreign, managed]}, {"subjects": [managed]}, {"subjects": [managed]}, RESET).change == {}
    )
    change = merge({"subjects": [*foreign, managed]}, {"subjects": [moved]}, {"subjects": [managed]}, RESET).change
    assert change == {"subjects": [moved, *foreign]}


ALL = set(Absent)
EMPTY, ZERO = {Absent.EMPTY, Absent.ZERO}, {Absent.ZERO}


@pytest.mark.parametrize(
    ("actual", "desired", "same"),
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
def test_values_that_are_equal(actual: Any, desired: Any, same: set[Absent]) -> None:
    assert {absent for absent in Absent if covers(actual, desired, absent)} == same


leaves = st.sampled_from(["a", "b", 1, True, [1], [1, 2]])
inner = st.dictionaries(st.sampled_from("xyz"), leaves, min_size=1, max_size=2)
# A field is either always a mapping or never; no API changes that.
documents = st.fixed_dictionaries(
    {}, optional={"leaf": leaves, "map": inner, "deep": st.fixed_dictionaries({"in": inner})}
)


@given(documents, documents)
def test_a_patched_document_covers_the_desired_one_and_needs_no_patch(
    live: dict[str, Any], desired: dict[str, Any]
) -> None:
    change = merge(live, desired, {}, RESET).change
    after = apply_patch(live, change)
    assert covers(after, desired, RESET.absent)
    assert merge(after, desired, {}, RESET).change == {}
    assert apply_patch(after, undo_patch(live, change)) == live


@given(documents, documents, documents)
def test_two_changes_are_reverted_as_one(live: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    one = merge(live, first, {}, RESET).change
    between = apply_patch(live, one)
    two = merge(between, second, {}, RESET).change
    back = combine_undo(undo_patch(live, one), undo_patch(between, two))
    assert apply_patch(apply_patch(between, two), back) == live


def test_a_field_that_is_not_desired_any_more_is_reverted_unless_another_client_changed_it() -> None:
    live = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "1Gi", "pods": "9"}}}
    last = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "2Gi"}}}
    made, desired = removal_patch(last), {"spec": {"weight": 3, "capability": {"pods": "9"}}}
    assert made == {"spec": {"weight": None, "capability": {"cpu": None, "memory": None}}}

    def change(desired: dict[str, Any], undo: dict[str, Any] | None) -> dict[str, Any]:
        return merge(live, desired, last, RESET, undo).change

    assert change(desired, made) == change(desired, None) == {"spec": {"weight": 3, "capability": {"cpu": None}}}
    assert change(desired, {"spec": {"capability": {"cpu": "4"}}})["spec"]["capability"] == {"cpu": "4"}
    assert change(desired, {}) == {"spec": {"weight": 3}}
    assert change({"spec": {"weight": 2}}, made) == {"spec": {"capability": {"cpu": None}}}
