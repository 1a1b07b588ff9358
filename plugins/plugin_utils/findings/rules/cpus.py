# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about CPUs and NUMA nodes that kubelet's managers cannot take."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ...kubelet_fields import TOPOLOGY_MANAGER_OPTIONS, TOPOLOGY_MANAGER_POLICY
from ..kubelet_values import table, told, value
from ..model import Effect, Finding, Rule, Severity

MOST_NUMA_NODES = 8
"""kubernetes pkg/kubelet/cm/topologymanager/topology_manager.go defaultMaxAllowableNUMANodes."""


def _allowed_numa_nodes(facts: NodeFacts) -> int:
    text = str(table(facts, TOPOLOGY_MANAGER_OPTIONS.key).get("max-allowable-numa-nodes", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else MOST_NUMA_NODES


def too_many_numa_nodes(facts: NodeFacts) -> Iterator[Finding]:
    policy = value(facts, TOPOLOGY_MANAGER_POLICY.key)
    count, allowed = len(facts.cpus.numa), _allowed_numa_nodes(facts)
    if policy in (None, "none") or count <= allowed:
        return
    yield Finding(
        "too-many-numa-nodes",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet's topology manager takes {allowed} NUMA nodes, and there are {count}: it will not start.",
        (told(facts, TOPOLOGY_MANAGER_POLICY.key),),
        "Set topologyManagerPolicy: none, or from Kubernetes 1.31 on the option max-allowable-numa-nodes.",
    )


RULES: tuple[Rule, ...] = (too_many_numa_nodes,)
