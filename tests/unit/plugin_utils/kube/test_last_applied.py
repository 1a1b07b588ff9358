# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Annotations of objects and records in ConfigMaps, in the formats that are stored in clusters."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.last_applied import (
    pack,
    parse_record,
    read_last_applied,
    record_change,
    record_data,
    unpack,
    with_last_applied,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import apply_change
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap, Ref
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server

ENTRY, NOTE = "entry.json", "example.com/applied"
STORED = '{\n "schema": 1,\n "b": [\n  1\n ],\n "a": "x"\n}'
ROLE: dict[str, Any] = {"kind": "Role", "metadata": {"name": "r", "annotations": {"foreign": "1"}}, "rules": []}


def config_map(text: str) -> ConfigMap:
    return ConfigMap("record", {ENTRY: text}, "1", "space")


def test_a_record_has_its_stored_format() -> None:
    assert record_data(ENTRY, {"b": [1], "a": "x"}) == {ENTRY: STORED}
    assert parse_record(config_map(STORED), ENTRY, dict) == {"schema": 1, "b": [1], "a": "x"}
    assert parse_record(None, ENTRY, dict) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1}'])
def test_a_record_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(ClusterError, match=r"^ConfigMap space/record does not have the format of this version"):
        parse_record(config_map(text), ENTRY, lambda document: document["a"])


def test_a_record_of_another_version_says_so() -> None:
    with pytest.raises(ClusterError, match=r"it has schema 2, and this version reads 1"):
        parse_record(config_map('{"schema": 2}'), ENTRY, dict)


def test_a_record_of_another_run_is_not_overwritten() -> None:
    client, ref = Server().client(), Ref("v1", "ConfigMap", "record", "space")

    def write(text: str, version: str | None) -> str:
        written = apply_change(client, record_change(ref, {ENTRY: text}, version))
        return str(written["metadata"]["resourceVersion"])

    first = write("1", None)
    with pytest.raises(ClusterError, match="another client changed it"):
        write("2", None)
    assert write("2", first) != first
    with pytest.raises(ClusterError, match="another client changed it"):
        write("3", first)


def test_an_annotation_has_its_stored_format() -> None:
    annotated = with_last_applied(ROLE, NOTE)
    text = '{"kind":"Role","metadata":{"annotations":{"foreign":"1"},"name":"r"},"rules":[]}'
    assert annotated["metadata"]["annotations"] == {"foreign": "1", NOTE: text}
    assert read_last_applied(annotated, NOTE) == ROLE


@pytest.mark.parametrize("note", ["", "%", "7", "{}", '{"metadata": 1}'])
def test_an_unknown_annotation_reverts_nothing(note: str) -> None:
    assert read_last_applied({"metadata": {"annotations": {NOTE: note}}}, NOTE) == {}
    assert read_last_applied({"metadata": {}}, NOTE) == {}


def test_a_packed_annotation_has_its_stored_format() -> None:
    assert pack({"b": 1, "a": {}}) == "eNqrVkpUsqqu1VFKUrIyrAUAHwIEDQ=="
    assert unpack(pack({"b": 1, "a": {}})) == {"b": 1, "a": {}}


@pytest.mark.parametrize("note", ["", "%", "AAAA", "eJyLBQAANwA1"])
def test_an_invalid_packed_annotation_is_refused(note: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(note)
