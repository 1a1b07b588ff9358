# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_verify is not deceived by agents that are healthy, publish capacity, and do not work."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.agent.field import (
    BATCH_CPU,
    BLIND,
    CPUS,
    MISLED,
    NODES,
    RATIO,
    TIMEOUT,
    Field,
    nodes_of,
)
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

pytestmark = pytest.mark.usefixtures("deployed")
BROKEN = (BLIND, MISLED)
NEW = [name for name, kind in NODES.items() if kind[0] == "new"]


@pytest.fixture(scope="module", name="proofs")
def _proofs(field: Field) -> dict[str, dict[str, Any]]:
    """agent_verify's result for each Node, once the broken agents publish as if nothing ran."""
    for name in BROKEN:
        _wait_for_all(field, name)
    nodes = [*nodes_of("new"), *nodes_of("old")]
    return {proof["node"]: proof for proof in field.module("agent_verify", nodes)["nodes"]}


def _wait_for_all(field: Field, name: str) -> None:
    """Wait until a Node offers its share of all CPUs."""
    eventually(lambda: field.amount(name, BATCH_CPU) == CPUS * 10 * RATIO, lambda: field.log(name), TIMEOUT)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_agent_is_ready_and_publishes_capacity(field: Field, proofs: dict[str, Any], name: str) -> None:
    """What kubelet and the API server show of it is in order."""
    agent = field.kubelet.agent_on(name)
    assert agent
    assert agent.ready
    assert (proofs[name]["agent_reason"], proofs[name]["batch_cpu"]) == ("", "2400")


def test_an_agent_that_reads_nothing_is_found(proofs: dict[str, Any]) -> None:
    assert not proofs[BLIND]["verified"]
    assert proofs[BLIND]["cgroup_reason"] == ""
    assert "60 % of all memory of the Node, as if its pods used none" in proofs[BLIND]["usage_reason"]


def test_an_agent_with_another_driver_is_found(proofs: dict[str, Any]) -> None:
    assert not proofs[MISLED]["verified"]
    assert proofs[MISLED]["cgroup_reason"] == "the agent uses the systemd driver, and kubelet cgroupfs"
    assert proofs[MISLED]["usage_reason"]


@pytest.fixture(scope="module", name="smoke_test")
def _smoke_test(field: Field) -> Run:
    """The role's entry `verify` with pods, for the new release."""
    return field.role("new", entry="verify", nodes=NEW, colocation_agent_pools=[], colocation_agent_smoke_test=True)


def test_the_smoke_test_finds_the_values_of_each_kind(smoke_test: Run) -> None:
    """Of the pod and its container, on two Nodes of each version."""
    assert smoke_test.code == 0, smoke_test.output
    for value in ("cpu.weight is 20, expected 20", "cpu.shares is 204, expected 204"):
        assert smoke_test.output.count(value) == 4, smoke_test.output


@pytest.mark.parametrize("name", NEW)
def test_a_missing_burst_is_reported_with_its_cause(smoke_test: Run, name: str) -> None:
    """Upstream's defect: the pod has its quota and no burst, until it is updated."""
    expected = f"{name}: the agent sets no burst for a pod whose quota it sets itself, until the pod is updated"
    assert expected in smoke_test.output


@pytest.mark.parametrize("name", NODES)
def test_an_agent_that_works_is_verified(proofs: dict[str, Any], name: str) -> None:
    assert proofs[name]["verified"], proofs[name]
