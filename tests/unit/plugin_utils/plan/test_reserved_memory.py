# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Computed reservedMemory: the sum is exact for any number of NUMA nodes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.quantity import parse_quantity
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_allocatable import equal_shares
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.desired_state import resolve_profile
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    profile_of,
    put,
)

MI = 1 << 20


@pytest.mark.parametrize(
    ("total", "nodes", "amounts"),
    [
        (1124 * MI, [0], ["1124Mi"]),
        (1124 * MI, [0, 1], ["562Mi", "562Mi"]),
        (1125 * MI, [0, 1], ["563Mi", "562Mi"]),
        (1 * MI, [0, 1], ["1Mi"]),
        (1000, [0, 1], ["1000"]),
        (3 * MI + 1, [2, 5, 7], ["1048577", "1Mi", "1Mi"]),
    ],
)
def test_shares(total: int, nodes: list[int], amounts: list[str]) -> None:
    result = equal_shares(total, nodes)
    assert [entry["limits"] for entry in result] == [{"memory": amount} for amount in amounts]
    assert [entry["numaNode"] for entry in result] == nodes[: len(amounts)]
    assert sum(parse_quantity(amount) for amount in amounts) == total


def computed(numa: dict[str, str | None], change: tuple[str, str] | None = None, **options: Any) -> Any:
    snapshot = put(captured(ALIGNED), numa, "cpus", "numa")
    snapshot = kubelet_edit(snapshot, *change) if change else snapshot
    return resolve_profile(facts_of(snapshot), profile_of(reserved_memory="auto", **options)).reserved_memory


def one(amount: str, node: int = 0) -> tuple[dict[str, Any], ...]:
    return ({"numaNode": node, "limits": {"memory": amount}},)


def test_reservations_are_those_of_the_file_and_the_profile() -> None:
    """The file has evictionHard 64Mi."""
    assert computed({"0": "0-1"}) == one("64Mi")
    assert computed({"0": "0-1"}, system_reserved={"memory": "1Gi"}) == one("1088Mi")
    in_file = ("cpu: 500m", "cpu: 500m\n  memory: 100Mi")
    assert computed({"0": "0-1"}, in_file) == one("164Mi")
    assert computed({"0": "0-1"}, in_file, system_reserved={"memory": "36Mi"}) == one("100Mi")


def test_the_default_of_eviction_is_included() -> None:
    text = captured(ALIGNED)["kubelet"]["files"]["/var/lib/kubelet/config.yaml"]["text"]
    start = text[text.index("evictionHard:") : text.index("failSwapOn")]
    assert computed({"0": "0-1"}, (start, ""), kube_reserved={"memory": "1Gi"}) == one("1124Mi")


def test_nodes_without_cpus_get_nothing() -> None:
    assert computed({"0": "", "1": "0-1", "2": None}) == one("64Mi", 1)


def test_the_order_of_nodes_is_that_of_their_numbers() -> None:
    result = computed({"10": "3", "9": "2", "1": "1"})
    assert [entry["numaNode"] for entry in result] == [1, 9, 10]
    assert [entry["limits"]["memory"] for entry in result] == ["22Mi", "21Mi", "21Mi"]


def test_an_explicit_list_is_used_unchanged() -> None:
    own = [{"numaNode": 0, "limits": {"memory": "1Gi"}}]
    facts = facts_of(kubelet_adds(captured(ALIGNED), "memoryManagerPolicy: None\n"))
    assert resolve_profile(facts, profile_of(reserved_memory=own)).reserved_memory == tuple(own)
