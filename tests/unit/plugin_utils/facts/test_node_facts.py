# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole snapshots of real nodes, and the facts document for users."""

from __future__ import annotations

import importlib
import json
from dataclasses import FrozenInstanceError, fields, is_dataclass
from enum import Enum
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import MissingLibrary
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import (
    SECTIONS,
    SnapshotError,
    interpret,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.facts_document import to_builtins
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    NAMES,
    captured,
    golden,
    kubelet_adds,
    kubelet_flags,
    put,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.support.hosts.facts_documents import facts_document as document


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_of_a_real_node_are_the_expected_document(name: str) -> None:
    assert document(captured(name)) == golden("facts", name)


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_are_plain_json(name: str) -> None:
    result = document(captured(name))
    assert json.loads(json.dumps(result)) == result


def test_interpreting_changes_nothing_and_is_repeatable() -> None:
    snapshot = captured(ALIGNED)
    assert document(snapshot) == document(snapshot)
    assert snapshot == captured(ALIGNED)


@pytest.mark.parametrize("schema", [None, 0, 2, "1"])
def test_another_schema_is_refused(schema: object) -> None:
    with pytest.raises(SnapshotError, match="this version reads schema 1"):
        interpret(put(captured(ALIGNED), schema, "schema"))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_snapshot_without_a_section_is_refused(section: str) -> None:
    snapshot = captured(ALIGNED)
    del snapshot[section]
    with pytest.raises(SnapshotError, match=f"missing sections: {section}"):
        interpret(snapshot)


def test_a_node_that_does_not_report_its_cpus_has_none_online() -> None:
    assert interpret(put(captured(ALIGNED), None, "cpus", "online")).online_cpus == frozenset()


def test_no_secret_of_a_file_or_command_line_is_in_the_document() -> None:
    planted = "hunter2-Zm9v"
    snapshot = kubelet_flags(captured(ALIGNED), f"--api-token={planted}", "--password", planted)
    snapshot = kubelet_adds(snapshot, f"staticPodURLHeader:\n  X-Access: [{planted}]\n")
    snapshot = runtime_text(
        snapshot, f'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry.auth]\npassword = "{planted}"\n'
    )
    assert planted not in json.dumps(document(snapshot))


def test_a_file_that_cannot_be_parsed_is_reported_with_its_line() -> None:
    result = document(kubelet_adds(captured(ALIGNED), "a: {{ driver }}\n"))
    problem = {"line": 34, "message": "a key that is not a plain name"}
    assert result["kubelet"]["config_files"][0]["problem"] == problem


def test_a_missing_library_is_not_reported_as_a_broken_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib, "import_module", _no_module)
    with pytest.raises(MissingLibrary, match="pip install"):
        interpret(captured(ALIGNED))


def _no_module(name: str) -> Any:
    raise ImportError(name)


class Colour(Enum):
    RED = "red"


def test_values_of_other_classes_become_plain_builtins() -> None:
    assert to_builtins({1: (Colour.RED, frozenset({2, 1})), "a": [None, True]}) == {
        "1": ["red", [1, 2]],
        "a": [None, True],
    }


def test_facts_and_their_parts_are_frozen() -> None:
    facts = interpret(captured(ALIGNED))
    for part in (facts, *(getattr(facts, field.name) for field in fields(facts))):
        if is_dataclass(part):
            with pytest.raises(FrozenInstanceError):
                setattr(part, fields(part)[0].name, None)
