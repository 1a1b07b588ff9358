# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a wrong type, by the table that is generated from kubelet's types."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.kubelet_text import line_of, read_kubelet
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_accepted_values import (
    wrong_types,
    wrong_types_of_dropins,
)

VERSION = (1, 35)


def places(values: dict[str, Any], *, is_json: bool = False) -> list[str]:
    return [str(wrong).partition(" is not ")[0] for wrong in wrong_types(values, VERSION, is_json=is_json)]


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"maxPods": "110"}, "maxPods"),
        ({"maxPods": 1.5}, "maxPods"),
        ({"maxPods": 1 << 31}, "maxPods"),
        ({"maxPods": True}, "maxPods"),
        ({"clusterDNS": "10.96.0.10"}, "clusterDNS"),
        ({"clusterDNS": ["a", 1]}, "clusterDNS[1]"),
        ({"authentication": {"webhook": {"cacheTTL": "two"}}}, "authentication.webhook.cacheTTL"),
        ({"authentication": {"webhook": True}}, "authentication.webhook"),
        ({"registerWithTaints": [{"key": 1}]}, "registerWithTaints[0].key"),
        ({"evictionHard": {"memory.available": 5}}, "evictionHard.memory.available"),
        ({"featureGates": {"MemoryQoS": "true"}}, "featureGates.MemoryQoS"),
        ({"reservedMemory": [{"numaNode": "0"}]}, "reservedMemory[0].numaNode"),
        ({"syncFrequency": None}, "syncFrequency"),
        ({"syncFrequency": "1minute"}, "syncFrequency"),
        ({"noSuchField": [float("inf")]}, "noSuchField[0]"),
        ({"logging": {"verbosity": -1}}, "logging.verbosity"),
    ],
)
def test_a_value_of_a_wrong_type_is_found_by_its_path(values: dict[str, Any], path: str) -> None:
    assert places(values) == [path]


@pytest.mark.parametrize(
    "values",
    [
        {"maxPods": None, "clusterDNS": None, "authentication": None},
        {"maxPods": 110.0, "MaxPods": "110", "noSuchField": {"a": 1}},
        {"syncFrequency": "1m30s", "reservedMemory": [{"numaNode": 0, "limits": {"memory": 1073741824}}]},
        {"logging": {"flushFrequency": 5, "options": {"json": {"infoBufferSize": "0"}}}},
    ],
)
def test_a_value_of_the_right_type_is_not_found(values: dict[str, Any]) -> None:
    assert places(values) == []


def test_json_does_not_accept_a_fraction_as_a_whole_number() -> None:
    assert places({"maxPods": 110.0}, is_json=True) == ["maxPods"]


def test_the_keys_of_drop_ins_are_read_in_any_letter_case() -> None:
    assert [wrong.path for wrong in wrong_types_of_dropins({"MaxPods": "110"}, VERSION)] == [("MaxPods",)]


def test_a_newer_field_is_ignored() -> None:
    assert list(wrong_types({"failCgroupV1": "no"}, (1, 30), is_json=False)) == []
    assert places({"failCgroupV1": "no"}) == ["failCgroupV1"]


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a: 1\nb:\n  c:\n  - d: 1\n  - d: 2\n", ("b", "c", 1, "d"), 5),
        ("a: 1\nb: 2\na: 3", ("a",), 3),
        ("a: &x {b: 1}\nc: *x\n", ("c", "b"), 2),
        ('{"a":\n{"b":\n[1]}}', ("a", "b", 0), 3),
        ("a: 1\n", ("b",), None),
    ],
)
def test_the_line_of_a_value_is_found_in_the_text(text: str, path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(text, path) == line


def test_the_line_is_the_one_in_the_original_text() -> None:
    text = "\ufeffmaxPods: x\r\nsyncFrequency: y\r\n"
    lines = [line_of(text, wrong.path) for wrong in wrong_types(read_kubelet(text), VERSION, is_json=False)]
    assert lines == [1, 2]
