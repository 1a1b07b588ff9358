# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published JSON Schema accepts all known facts documents, and rejects invalid ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import CgroupMode
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.facts_document import SCHEMA
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Severity, Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import DIFFERING, FIXTURES, golden, put

SCHEMA_FILE = Path(__file__).parents[4] / "docs" / "schema" / f"facts-{SCHEMA}.json"
PUBLISHED: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(PUBLISHED)
DOCUMENTS = [*(FIXTURES / "facts").glob("*.json"), *(FIXTURES / "hosts").glob("*.facts.json")]

BROKEN: dict[str, tuple[Any, tuple[str | int, ...]]] = {
    "version": (2, ("schema",)),
    "verdict": ("fine", ("verdict",)),
    "mode": (None, ("cgroup", "mode")),
    "controllers": ("cpu", ("cgroup", "controllers")),
    "driver": ("cgroup", ("kubelet", "cgroup_driver")),
    "switch": ("yes", ("kubelet", "running")),
    "claim": ({"setting": "x"}, ("kubelet", "claims", 0)),
    "code": ("Driver Mismatch", ("findings", 0, "code")),
    "severity": ("fatal", ("findings", 0, "severity")),
    "remedy": ("", ("findings", 0, "remedy")),
    "link": ("https://example.org/", ("findings", 0, "link")),
    "cpus": ("all", ("cpu", "online")),
    "pods": (-1, ("pods", "sandboxes")),
    "handler": ({"configured": "systemd"}, ("runtime", "handlers", "runc")),
}


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(PUBLISHED)
    assert PUBLISHED["properties"]["schema"]["const"] == SCHEMA


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_it_admits_every_document_that_we_expect(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("name", BROKEN)
def test_it_refuses_what_breaks_a_promise(name: str) -> None:
    value, place = BROKEN[name]
    assert not VALIDATOR.is_valid(put(golden("facts", DIFFERING), value, *place))


@pytest.mark.parametrize("section", PUBLISHED["required"])
def test_a_section_may_grow_and_may_not_go(section: str) -> None:
    document = golden("facts", DIFFERING)
    if isinstance(document[section], dict):
        assert VALIDATOR.is_valid(put(document, "new", section, "something_new"))
    del document[section]
    assert not VALIDATOR.is_valid(document)


def test_it_knows_the_words_that_we_use() -> None:
    properties, finding = PUBLISHED["properties"], PUBLISHED["$defs"]["finding"]["properties"]
    assert set(properties["verdict"]["enum"]) == {member.value for member in Verdict}
    assert set(finding["severity"]["enum"]) == {member.value for member in Severity}
    assert set(finding["effect"]["enum"]) == {member.value for member in Effect}
    assert set(properties["cgroup"]["properties"]["mode"]["enum"]) >= {member.value for member in CgroupMode}
