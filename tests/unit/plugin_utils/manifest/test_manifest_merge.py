# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three ways: what the manifest says, what it said, and what there is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.inventory import (
    Inventory,
    place,
    read_inventory,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.marks import APPLIED, last_said, marks, said
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.merge import is_as_wanted, merge

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
    "an empty field": ({"a": 1}, {"b": {}, "c": [], "d": None, "e": False, "f": 0}, {}, {}, [], []),
    "an amount": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, {}, {}, [], []),
    "another amount": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, {}, {"limits": {"cpu": "2"}}, [], []),
    "no amount": ({"limits": {"cpu": "x"}}, {"limits": {"cpu": "x"}}, {}, {}, [], []),
    "a version": ({"data": {"v": "1.10"}}, {"data": {"v": "1.1"}}, {}, {"data": {"v": "1.1"}}, [], []),
    "plain items": ({"a": [1, 2]}, {"a": [1]}, {"a": [1, 2]}, {"a": [1]}, [], []),
    "a mapping in place of a text": ({"a": "x"}, {"a": {"b": 1}}, {}, {"a": {"b": 1}}, [], []),
}


@pytest.mark.parametrize("name", WAYS)
def test_three_ways(name: str) -> None:
    live, wanted, last, change, kept, conflicts = WAYS[name]
    found = merge(live, wanted, last)
    assert (found.change, found.kept, found.conflicts) == (change, kept, conflicts)


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
    "names twice": ({"c": [{"name": "a"}, {"name": "a"}]}, named(a={}), {}, named(a={}), []),
}


@pytest.mark.parametrize("name", LISTS)
def test_items_with_names_are_told_apart(name: str) -> None:
    live, wanted, last, change, kept = LISTS[name]
    found = merge(live, wanted, last)
    assert (found.change, found.kept, found.conflicts) == (change, kept, [])


def test_types_count() -> None:
    assert is_as_wanted(True, True)
    assert not is_as_wanted("true", True)
    assert not is_as_wanted([1], [1, 2])
    assert not is_as_wanted(3, None)
    assert is_as_wanted(8443, "8443")


CRD = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "b"},
    "data": {"x": "1" * 300_000},
}


def test_a_mark_holds_what_was_said_and_is_small() -> None:
    own = marks(CRD, "volcano", adopted=False)
    assert sum(map(len, own.values())) < 2000
    live = {**CRD, "metadata": {**CRD["metadata"], "annotations": own}}  # type: ignore[dict-item]
    assert last_said(live) == said(live) | {"metadata": {}} == said(CRD)


@pytest.mark.parametrize("note", ["", "%", "AAAA", "eJyLBQAANwA1"])
def test_a_mark_of_somebody_else_is_refused(note: str) -> None:
    live = {**CRD, "metadata": {"name": "a", "annotations": {APPLIED: note}}}
    with pytest.raises(ClusterError, match="is not what this version of the collection writes"):
        last_said(live)


def test_an_inventory_reads_as_it_was_written() -> None:
    known = Inventory((Ref("v1", "ConfigMap", "a", "b"),), {"Job b/c": "sha256:0"})
    config_map = place("x").header()
    assert read_inventory({**config_map, "data": known.written()}) == known
    with pytest.raises(ClusterError, match="ConfigMap kube-system/volcano-colocation-manifest-x is not what"):
        read_inventory({**config_map, "data": {"inventory.json": '{"schema": 2}'}})
