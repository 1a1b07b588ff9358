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
    RELEASES,
    TIMEOUT,
    Field,
    nodes_of,
)
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

pytestmark = pytest.mark.usefixtures("deployed")
BROKEN = (BLIND, MISLED)


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


@pytest.fixture(scope="module", name="smoke_tests")
def _smoke_tests(field: Field) -> dict[str, Run]:
    """The role's entry `verify` with pods, for the Nodes of each release whose agents work."""
    working = {age: [name for name in nodes_of(age) if name in NODES] for age in ("new", "old")}
    return {
        age: field.role(age, entry="verify", nodes=nodes, colocation_agent_pools=[], colocation_agent_smoke_test=True)
        for age, nodes in working.items()
    }


@pytest.mark.parametrize("age", RELEASES)
def test_the_smoke_test_finds_the_values_of_each_kind(smoke_tests: dict[str, Run], age: str) -> None:
    run = smoke_tests[age]
    assert run.code == 0, run.output
    for value in ("cpu.weight is 20, expected 20", "cpu.shares is 204, expected 204"):
        assert run.output.count(value) == 4, run.output


@pytest.mark.parametrize("name", NODES)
def test_a_missing_burst_is_reported_with_its_cause(smoke_tests: dict[str, Run], name: str) -> None:
    """Upstream's defect: the pod has its quota and no burst, until it is updated."""
    output = smoke_tests[NODES[name][0]].output
    assert f"{name}: the agent sets no burst for a pod whose quota it sets itself, until the pod is updated" in output


@pytest.mark.parametrize("name", NODES)
def test_an_agent_that_works_is_verified(proofs: dict[str, Any], name: str) -> None:
    assert proofs[name]["verified"], proofs[name]
