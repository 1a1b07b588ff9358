# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that an argument specification does not accept, in a sentence each."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.spec_problems import (
    LONGEST_VALUE,
    find_problems,
    with_defaults,
)

DRIVER = {"type": "str", "choices": ["systemd", "cgroupfs", ""]}
LIMITS = {
    "type": "dict",
    "options": {
        "cpu": {"type": "int", "default": 2},
        "levels": {"type": "list", "elements": "str", "choices": ["HLS", "LS"]},
        "pods": {"type": "list", "elements": "dict", "options": {"name": {"required": True, "type": "str"}}},
    },
}


@pytest.mark.parametrize(
    ("argument", "value", "says"),
    [
        (DRIVER, "sytemd", "v: 'sytemd' is not one of systemd, cgroupfs, empty; did you mean systemd?"),
        (DRIVER, "zzz", "v: 'zzz' is not one of systemd, cgroupfs, empty"),
        (DRIVER, ["systemd"], 'v: ["systemd"] is not one of systemd, cgroupfs, empty; did you mean systemd?'),
        ({"type": "int"}, "many", "v: 'many' is not a whole number"),
        ({"type": "bool"}, "perhaps", "v: 'perhaps' is not true or false"),
        ({"type": "float"}, "x", "v: 'x' is not a number"),
        ({"type": "dict"}, "x", "v: 'x' is not a mapping of names to values"),
        ({"type": "list"}, {"a": 1}, 'v: {"a": 1} is not a list'),
        (LIMITS, {"cpus": 1}, "v has no option cpus; did you mean cpu?"),
        (LIMITS, {"cpu": "many"}, "v.cpu: 'many' is not a whole number"),
        (LIMITS, {"levels": ["LS", "LZ"]}, "v.levels[1]: 'LZ' is not one of HLS, LS"),
        (LIMITS, {"pods": [{}]}, "v.pods[0]: name is missing"),
        (LIMITS, {"pods": ["x"]}, "v.pods[0]: 'x' is not a mapping of names to values"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_expected(argument: dict[str, Any], value: Any, says: str) -> None:
    assert list(find_problems("v", argument, value)) == [says]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        (DRIVER, ""),
        (DRIVER, None),
        ({"type": "int"}, "7"),
        ({"type": "bool"}, "yes"),
        ({"type": "list"}, "a,b"),
        (LIMITS, {"levels": "HLS,LS", "pods": [{"name": "web"}]}),
    ],
)
def test_what_the_module_would_accept_is_accepted(argument: dict[str, Any], value: Any) -> None:
    assert list(find_problems("v", argument, value)) == []


def test_a_long_value_is_cut() -> None:
    (problem,) = find_problems("v", {"type": "int"}, "9" * 1000 + "x")
    assert len(problem) < LONGEST_VALUE + 40


def test_defaults_are_filled_in_also_in_mappings() -> None:
    outer = {"limits": LIMITS, "other": {"type": "str"}}
    assert with_defaults(outer, {}) == {"limits": {"cpu": 2, "levels": None, "pods": []}, "other": None}
