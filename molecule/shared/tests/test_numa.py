# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NUMA nodes in the kernel, kubelet and the reported facts, at each moment: two in one scenario, else one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

NODES = {"v2-cgroupfs": {"0": "0", "1": "1"}}
ONE_NODE = {"0": "0-1"}
"""CPUs by the number of their NUMA node."""

POLICIES = {"v2-cgroupfs": ("single-numa-node", "Static")}
DEFAULT_POLICIES = ("best-effort", "None")
"""Of the topology and of the memory manager."""

CONFIG = "/var/lib/kubelet/config.yaml"
STATE = "/var/lib/kubelet/memory_manager_state"
MI = 1 << 20
KEPT_BACK = 64
"""Mi of memory: what evictionHard of the lab's nodes has, and nothing else reserves any."""
REQUEST = 64 * MI
"""What the guaranteed pod asks for."""


@pytest.fixture(name="nodes")
def _nodes(evidence: dict[str, Any]) -> dict[str, str]:
    return NODES.get(evidence["node"], ONE_NODE)


@pytest.fixture(name="policies")
def _policies(evidence: dict[str, Any]) -> tuple[str, str]:
    return POLICIES.get(evidence["node"], DEFAULT_POLICIES)


@pytest.fixture(name="state")
def _state(evidence: dict[str, Any]) -> dict[str, Any]:
    """The checkpoint of kubelet's memory manager."""
    state: dict[str, Any] = json.loads(evidence["texts"][STATE])
    return state


def own_node(nodes: dict[str, str], exclusive: str) -> str:
    """The NUMA node that the guaranteed container's CPUs are of."""
    (number,) = (number for number, cpus in nodes.items() if exclusive in (cpus, *cpus.split("-")))
    return number


def total(meminfo: str) -> int:
    """Bytes of a NUMA node."""
    match = re.search(r"MemTotal:\s+(\d+) kB", meminfo)
    assert match, meminfo
    return int(match[1]) * 1024


def test_the_kernel_has_the_nodes_of_the_scenario(evidence: dict[str, Any], nodes: dict[str, str]) -> None:
    assert {number: node["cpus"] for number, node in evidence["numa"].items()} == nodes


def test_the_reported_facts_have_what_the_kernel_has(evidence: dict[str, Any], facts: dict[str, Any]) -> None:
    assert facts["cpu"]["numa"] == {number: node["cpus"] for number, node in evidence["numa"].items()}
    assert facts["cpu"]["online"] == "0-1"


def test_kubelets_file_has_the_policies_of_the_profile(evidence: dict[str, Any], policies: tuple[str, str]) -> None:
    config = yaml.safe_load(evidence["texts"][CONFIG])
    assert (config["topologyManagerPolicy"], config.get("memoryManagerPolicy", "None")) == policies


def test_what_kubelet_keeps_back_of_memory_is_spread_over_the_nodes(
    evidence: dict[str, Any], nodes: dict[str, str], policies: tuple[str, str]
) -> None:
    reserved = yaml.safe_load(evidence["texts"][CONFIG]).get("reservedMemory", [])
    share = {"memory": f"{KEPT_BACK // len(nodes)}Mi"}
    expected = [{"numaNode": int(number), "limits": share} for number in nodes]
    assert reserved == (expected if policies[1] == "Static" else [])


def test_the_guaranteed_pod_has_cpus_and_memory_of_one_node(
    evidence: dict[str, Any], nodes: dict[str, str], exclusive: str, pinned: list[str]
) -> None:
    """According to the kernel."""
    own = own_node(nodes, exclusive)
    assert [evidence["memory_nodes"][path] for path in pinned] == [own] * len(pinned)


def test_the_memory_managers_checkpoint_agrees(
    state: dict[str, Any], nodes: dict[str, str], policies: tuple[str, str], exclusive: str
) -> None:
    assert state["policyName"] == policies[1]
    blocks = [
        block
        for containers in state.get("entries", {}).values()
        for blocks_of_container in containers.values()
        for block in blocks_of_container
    ]
    own = int(own_node(nodes, exclusive))
    pinned = {"numaAffinity": [own], "type": "memory", "size": REQUEST}
    assert blocks == ([pinned] if policies[1] == "Static" else [])


def test_the_memory_manager_counts_what_each_node_has(
    evidence: dict[str, Any], state: dict[str, Any], nodes: dict[str, str], policies: tuple[str, str]
) -> None:
    """kubelet does not start with a checkpoint of other amounts, for example after a boot with less memory."""
    tables = {number: node["memoryMap"]["memory"] for number, node in (state["machineState"] or {}).items()}
    counted = {number: (table["total"], table["systemReserved"]) for number, table in tables.items()}
    reserved = KEPT_BACK * MI // len(nodes)
    expected = {number: (total(node["memory"]), reserved) for number, node in evidence["numa"].items()}
    assert counted == (expected if policies[1] == "Static" else {})
