# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about CPUs and NUMA nodes that kubelet's managers cannot take."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    CPU_MANAGER_POLICY,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICY,
)
from ...releases.kubelet_policy_options import parse_bool
from ..kubelet_values import table, told, value
from ..model import Effect, Finding, Rule, Severity

BY_SOCKET = "align-by-socket"
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


def more_sockets_than_numa_nodes(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/cm/cpumanager/policy_options.go ValidateStaticPolicyOptions; in 1.25 and newer."""
    # Those that have CPUs, pkg/kubelet/cm/cpumanager/topology. Without any cadvisor takes each socket for one.
    nodes, sockets = sum(1 for cpus in facts.cpus.numa.values() if cpus), facts.sockets
    chosen = parse_bool(table(facts, CPU_MANAGER_OPTIONS.key).get(BY_SOCKET)) is True
    if value(facts, CPU_MANAGER_POLICY.key) != "static" or not chosen or sockets is None or not 0 < nodes < sockets:
        return
    yield Finding(
        "sockets-without-numa-nodes",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet's CPU manager takes {BY_SOCKET} only where no NUMA node spans sockets, in every version that has it"
        f" (1.25 and newer); here are {sockets} sockets and {nodes} NUMA node(s): it will not start.",
        (told(facts, CPU_MANAGER_OPTIONS.key),),
        f"Take {BY_SOCKET} out of cpuManagerPolicyOptions on this node, or switch NUMA on in its firmware.",
    )


RULES: tuple[Rule, ...] = (too_many_numa_nodes, more_sockets_than_numa_nodes)
