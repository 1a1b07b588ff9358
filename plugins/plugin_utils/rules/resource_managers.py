# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies and options of kubelet's CPU and topology managers, and the CPUs and NUMA nodes they can take."""

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
from ..releases import kubelet_policy_options as history
from ..releases.kubelet_policy_options import parse_bool
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
        # A kubelet that does not know this one takes no notice of it.
        if field is MEMORY_RESERVATION_POLICY and (version is None or version < field.since):
            continue
        chosen = value(facts, field.key)
        if chosen is not None and str(chosen) not in known:
            yield start_failure(
                "policy-unknown",
                f"kubelet knows no {field.key} {chosen!s}; it does not start with it.",
                quote_claims(facts, field.key),
                f"Write {' or '.join(known)}; capital letters count.",
            )


def manager_options_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    gates = table(facts, FEATURE_GATES.key)
    # A kubelet that does not know the field takes no notice of it.
    known = [each for each in MANAGERS if version is None or version >= each[0].since]
    for field, manager in known:
        options = table(facts, field.key)
        idle = field is TOPOLOGY_MANAGER_OPTIONS and value(facts, TOPOLOGY_MANAGER_POLICY.key) == "none"
        # The topology manager of policy none looks at no option (topologymanager/topology_manager.go NewManager).
        looked_at = history.gate_errors if idle else history.option_errors
        reasons = list(looked_at(manager, options, gates, version)) if options and version else []
        if field is CPU_MANAGER_OPTIONS:
            reasons += history.option_conflicts(options, value(facts, TOPOLOGY_MANAGER_POLICY.key))
            if options and facts.kubelet.cpu_manager_policy == "none":
                reasons.append("cpuManagerPolicy none takes no options")
        if reasons:
            yield start_failure(
                "manager-options-refused",
                f"kubelet does not start with these {field.key}.",
                (*reasons, *quote_claims(facts, field.key, "featureGates")),
                "Take out what this version does not take, or switch its gate on; drain first, the checkpoint changes.",
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
        f"kubelet's topology manager takes {allowed} NUMA nodes, and there are {count}: it will not start.",
        (quote_value(facts, TOPOLOGY_MANAGER_POLICY.key),),
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
        (quote_value(facts, CPU_MANAGER_OPTIONS.key),),
        f"Take {BY_SOCKET} out of cpuManagerPolicyOptions on this node, or switch NUMA on in its firmware.",
    )
