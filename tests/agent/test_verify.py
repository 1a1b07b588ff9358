# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""agent_verify is not deceived by agents that are healthy, publish capacity, and do not work."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.agent.field import BATCH_CPU, BLIND, MISLED, NODES, Field, nodes_of
from ansible_collections.volcano.colocation.tests.volcano.cluster import eventually

pytestmark = pytest.mark.usefixtures("deployed")
BROKEN = (BLIND, MISLED)


@pytest.fixture(scope="module", name="proofs")
def _proofs(field: Field) -> dict[str, dict[str, Any]]:
    """agent_verify's result for each Node, once the broken agents publish as if nothing ran."""
    for name in BROKEN:
        eventually(lambda name=name: field.amount(name, BATCH_CPU) == 2400, lambda name=name: field.log(name), 150)
    nodes = [*nodes_of("new"), *nodes_of("old")]
    return {proof["node"]: proof for proof in field.module("agent_verify", nodes)["nodes"]}


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


@pytest.mark.parametrize("name", NODES)
def test_an_agent_that_works_is_verified(proofs: dict[str, Any], name: str) -> None:
    assert proofs[name]["verified"], proofs[name]
