# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects against what is wanted of them, patches there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import (
    Ref,
    body,
    covers,
    inverse,
    nulls,
    over,
    patch,
    patched,
    projected,
)

leaves = st.sampled_from(["a", "b", 1, True, [1], [1, 2]])
inner = st.dictionaries(st.sampled_from("xyz"), leaves, min_size=1, max_size=2)
# A field is a mapping or is none; no API makes one of the other.
documents = st.fixed_dictionaries(
    {}, optional={"leaf": leaves, "map": inner, "deep": st.fixed_dictionaries({"in": inner})}
)


@given(documents, documents)
def test_a_patched_document_says_all_that_is_wanted_and_needs_no_more(
    found: dict[str, Any], wanted: dict[str, Any]
) -> None:
    change = patch(found, wanted, {}, {})
    after = patched(found, change)
    assert covers(after, wanted) or not wanted
    assert patch(after, wanted, {}, {}) == {}
    assert patched(after, inverse(found, change)) == found


@given(documents, documents, documents)
def test_two_changes_go_back_as_one(found: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    one = patch(found, first, {}, {})
    between = patched(found, one)
    two = patch(between, second, {}, {})
    back = over(inverse(found, one), inverse(between, two))
    assert patched(patched(between, two), back) == found


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        (4, "4", True),
        (True, True, True),
        ("true", True, False),
        (True, "true", False),
        (None, {}, True),
        (None, "", False),
        (False, None, False),
        (None, False, False),
        ([{"a": 1, "more": 2}], [{"a": 1}], True),
        ([1, 2], [1], False),
        ({"a": 1}, {"a": 1, "b": None}, True),
    ],
)
def test_what_says_the_same(found: Any, wanted: Any, *, same: bool) -> None:
    assert covers(found, wanted) is same


def test_what_we_set_and_nobody_wants_any_more_is_as_it_was_unless_somebody_changed_it() -> None:
    found = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "1Gi", "pods": "9"}}}
    ours = {"spec": {"weight": 2, "capability": {"cpu": "8", "memory": "2Gi"}}}
    made, wanted = nulls(ours), {"spec": {"weight": 3, "capability": {"pods": "9"}}}
    assert made == {"spec": {"weight": None, "capability": {"cpu": None, "memory": None}}}
    assert patch(found, wanted, ours, made) == {"spec": {"weight": 3, "capability": {"cpu": None}}}
    assert patch(found, wanted, ours, {"spec": {"capability": {"cpu": "4"}}})["spec"]["capability"] == {"cpu": "4"}
    assert patch(found, wanted, ours, {}) == {"spec": {"weight": 3}}
    assert patch(found, {"spec": {"weight": 2}}, ours, made) == {}


def test_an_object_is_known_by_its_group_whatever_the_version() -> None:
    one = Ref.of({"apiVersion": "g.io/v1beta1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "n"}})
    assert one.same(Ref("g.io/v1", "MutatingAdmissionPolicy", "n"))
    assert not one.same(Ref("g.io/v1", "MutatingAdmissionPolicyBinding", "n"))
    assert (one.group, one.resource, one.place) == ("g.io", "mutatingadmissionpolicies", "MutatingAdmissionPolicy n")
    config = Ref("v1", "ConfigMap", "c", "ns")
    assert (config.group, config.resource, config.place) == ("", "configmaps", "ConfigMap ns/c")
    assert Ref("scheduling.k8s.io/v1", "PriorityClass", "p").resource == "priorityclasses"
    assert config.header(resourceVersion="5") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "ns", "resourceVersion": "5"},
    }


def test_the_body_is_what_can_be_wanted() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "K",
        "metadata": {"name": "n", "uid": "u"},
        "spec": {"a": 1},
        "status": {"b": 2},
    }
    assert body(manifest) == {"spec": {"a": 1}}
    labelled = {**manifest, "metadata": {"name": "n", "labels": {"x": "y"}}}
    assert body(labelled) == {"spec": {"a": 1}, "metadata": {"labels": {"x": "y"}}}
    assert projected({"spec": {"a": 1, "b": 2}}, {"spec": {"a": 5, "c": 6}}) == {"spec": {"a": 1}}
