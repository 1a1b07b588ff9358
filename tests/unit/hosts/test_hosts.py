# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of each described host: the whole recorded document, and its expected verdict, driver and source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import (
    NAMES,
    described,
    flipped,
    snapshot_of,
)
from ansible_collections.volcano.colocation.tests.support.hosts.facts_documents import facts_document


@pytest.fixture(scope="module", params=NAMES)
def host_document(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, Any]]:
    host = described(request.param)
    return request.param, facts_document(snapshot_of(host.host, tmp_path_factory.mktemp("host")))


def test_the_verdict_the_driver_and_its_source_are_as_expected(
    host_document: tuple[str, dict[str, Any]],
) -> None:
    name, document = host_document
    expect = described(name).expect
    assert document["verdict"] == expect["verdict"]
    assert document["kubelet"]["cgroup_driver"] == expect["driver"]
    assert document["kubelet"]["cgroup_driver_source"] == expect["source"]
    assert sorted({finding["code"] for finding in document["findings"]}) == sorted(expect["codes"])


def test_the_whole_document_is_as_recorded(host_document: tuple[str, dict[str, Any]]) -> None:
    name, document = host_document
    assert document == json.loads(described(name).golden.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_one_changed_input_changes_the_verdict(name: str, tmp_path: Path) -> None:
    host = described(name)
    document = facts_document(snapshot_of(flipped(host), tmp_path))
    assert document["verdict"] == host.flip["verdict"]
    assert host.flip["verdict"] != host.expect["verdict"]


@pytest.mark.parametrize("name", NAMES)
def test_a_host_has_its_rule_and_its_flip(name: str) -> None:
    host = described(name)
    assert len(host.host["rule"].split()) > 3
    assert host.flip["say"]
