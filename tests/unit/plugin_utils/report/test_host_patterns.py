# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of hosts: short, and exact. ``test_output_files`` compares them with ansible-core."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.host_patterns import (
    LONGEST,
    Groups,
    host_pattern,
    regular_expression,
    sort_hosts,
)

NAMES = [f"node{number:03}" for number in range(1, 201)]
GROUPS: Groups = {"all": NAMES, "ungrouped": NAMES[:50], "rack7": NAMES[100:150], "colocation_queue": NAMES[:50]}


@pytest.mark.parametrize(
    ("hosts", "pattern"),
    [
        (["node017"], "node017"),
        (["node10", "node9", "node9"], "node9,node10"),
        (NAMES[:57], "~node0(0[1-9]|[1-4][0-9]|5[0-7])$"),
        ([f"node{number}" for number in range(1, 58)], "~node([1-4][0-9]?|5[0-7]?|[6-9])$"),
        ([f"n{number}.dc1.example.com" for number in range(20, 40)], r"~n[23][0-9]\.dc1\.example\.com$"),
        ([f"rack{rack}-n{number}" for rack in (1, 2, 5) for number in range(10)], "~rack[125]-n[0-9]$"),
        (
            ["ab-longer-name", "ab", "ab-longer-names", "ab-longest-name-of-all"],
            "~ab(-longe(r-names?|st-name-of-all))?$",
        ),
        (["a1234567890123456789012", "a1234567890123456789012b", "ax"], "~a(1234567890123456789012b?|x)$"),
        (NAMES, "all"),
        (NAMES[100:150], "rack7"),
        ([name for name in NAMES if name not in ("node017", "node099")], "all,!node017,!node099"),
    ],
)
def test_the_shortest_form_is_used_unless_a_list_is_short(hosts: Collection[str], pattern: str) -> None:
    assert host_pattern(hosts, GROUPS) == pattern


def test_groups_of_this_run_only_are_not_used() -> None:
    assert host_pattern(NAMES[:50], GROUPS) == "~node0(0[1-9]|[1-4][0-9]|50)$"


def test_a_group_with_a_matching_name_would_add_its_hosts() -> None:
    assert host_pattern(NAMES[:57], {"node042": NAMES}) is None
    assert host_pattern(NAMES[:57], {"xnode042": NAMES}) is not None


@pytest.mark.parametrize("hosts", [[], ["fe80::1", "b"], ["a,b"], ["!a"], ["~a"], ["a[1]"], ["a*"], ["a b"], [""]])
def test_names_with_characters_of_patterns_have_no_pattern(hosts: Collection[str]) -> None:
    assert host_pattern(hosts, {}) is None


def test_a_pattern_that_would_be_too_long_is_not_used() -> None:
    hosts = [f"{number * 7919 % 104729:x}" for number in range(60)]
    assert host_pattern(hosts, {"all": hosts}) == "all"
    assert host_pattern(hosts, {"all": [*hosts, *"vwxyz"]}) is None
    assert len(regular_expression(hosts)) > LONGEST


def test_numbers_in_names_are_sorted_by_value() -> None:
    assert sort_hosts(["n10", "n2", "n2-b", "a", "n2"]) == ["a", "n2", "n2-b", "n10"]


HOST = st.from_regex(r"[a-c0-2][a-c0-2._-]{0,3}", fullmatch=True) | st.integers(0, 150).map("n{}".format)


@given(st.sets(HOST, min_size=1, max_size=40), st.sets(HOST))
@settings(max_examples=300, deadline=None)
def test_a_regular_expression_matches_exactly_its_names(names: set[str], others: set[str]) -> None:
    pattern = re.compile(f"{regular_expression(names)}$")
    near = {
        change for name in names for change in (name[:-1], name[1:], f"{name}0", f"n{name}", name.replace(".", "x"))
    }
    assert {name for name in names | others | near if pattern.match(name)} == names
