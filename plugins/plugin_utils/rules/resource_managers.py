# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies and options of kubelet's CPU and topology managers, and the NUMA nodes and sockets that they support."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_state import NodeFacts
from ..profile.kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    CPU_MANAGER_POLICY,
    FEATURE_GATES,
    MEMORY_MANAGER_POLICY,
    MEMORY_RESERVATION_POLICY,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICY,
    TOPOLOGY_MANAGER_SCOPE,
)
from ..releases import kubelet_features as history
from ..releases.kubelet_features import parse_bool
from ..releases.versions import minor
from .evidence import quote_claims, quote_value, table, value
from .rule_types import Effect, Finding, Severity, start_failure

POLICIES = (
    (CPU_MANAGER_POLICY, ("none", "static")),
    (TOPOLOGY_MANAGER_POLICY, ("none", "best-effort", "restricted", "single-numa-node")),
    (TOPOLOGY_MANAGER_SCOPE, ("container", "pod")),
    (MEMORY_MANAGER_POLICY, ("None", "Static")),
    (MEMORY_RESERVATION_POLICY, ("None", "TieredReservation")),
)


MANAGERS = ((CPU_MANAGER_OPTIONS, history.CPU_MANAGER), (TOPOLOGY_MANAGER_OPTIONS, history.TOPOLOGY_MANAGER))


def policy_unknown(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    for field, known in POLICIES:
        # A kubelet without this field ignores it.
        if field is MEMORY_RESERVATION_POLICY and (version is None or version < field.since):
            continue
        chosen = value(facts, field.key)
        if chosen is not None and str(chosen) not in known:
            yield start_failure(
                "policy-unknown",
                f"kubelet does not know {field.key} {chosen!s} and does not start with it.",
                quote_claims(facts, field.key),
                f"Write {' or '.join(known)}; the value is case-sensitive.",
            )


def manager_options_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    gates = table(facts, FEATURE_GATES.key)
    # A kubelet without the field ignores it.
    known = [manager for manager in MANAGERS if version is None or version >= manager[0].since]
    for field, manager in known:
        options = table(facts, field.key)
        idle = field is TOPOLOGY_MANAGER_OPTIONS and value(facts, TOPOLOGY_MANAGER_POLICY.key) == "none"
        # With policy none the topology manager ignores options (topologymanager/topology_manager.go NewManager).
        check = history.gate_errors if idle else history.option_errors
        reasons = list(check(manager, options, gates, version)) if options and version else []
        if field is CPU_MANAGER_OPTIONS:
            reasons += history.option_conflicts(options, value(facts, TOPOLOGY_MANAGER_POLICY.key))
            if options and facts.kubelet.cpu_manager_policy == "none":
                reasons.append("cpuManagerPolicy none does not accept options")
        if reasons:
            yield start_failure(
                "manager-options-refused",
                f"kubelet does not start with these {field.key}.",
                (*reasons, *quote_claims(facts, field.key, "featureGates")),
                "Remove the options that this version does not accept, or enable their feature gate; drain the node"
                " first, because the checkpoint changes.",
            )


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
        f"kubelet will not start: its topology manager supports {allowed} NUMA nodes, and the node has {count}.",
        (quote_value(facts, TOPOLOGY_MANAGER_POLICY.key),),
        "Set topologyManagerPolicy: none or, from Kubernetes 1.31 on, the option max-allowable-numa-nodes.",
    )


def more_sockets_than_numa_nodes(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/cm/cpumanager/policy_options.go ValidateStaticPolicyOptions; in 1.25 and newer."""
    # NUMA nodes with CPUs, pkg/kubelet/cm/cpumanager/topology. Without NUMA, cadvisor counts each socket as one.
    nodes, sockets = sum(1 for cpus in facts.cpus.numa.values() if cpus), facts.sockets
    chosen = parse_bool(table(facts, CPU_MANAGER_OPTIONS.key).get(BY_SOCKET)) is True
    if value(facts, CPU_MANAGER_POLICY.key) != "static" or not chosen or sockets is None or not 0 < nodes < sockets:
        return
    yield Finding(
        "sockets-without-numa-nodes",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet will not start: {BY_SOCKET} needs a node without NUMA nodes that span sockets, in every version that"
        f" has it (1.25 and newer), and this node has {sockets} sockets and {nodes} NUMA node(s).",
        (quote_value(facts, CPU_MANAGER_OPTIONS.key),),
        f"Remove {BY_SOCKET} from cpuManagerPolicyOptions on this node, or enable NUMA in its firmware.",
    )
