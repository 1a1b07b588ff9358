# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about CPUs and NUMA nodes that kubelet's managers cannot take."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ..kubelet_values import value
from ..model import Effect, Finding, Rule, Severity

MOST_NUMA_NODES = 8
"""kubernetes pkg/kubelet/cm/topologymanager/topology_manager.go defaultMaxAllowableNUMANodes."""


def _allowed_numa_nodes(facts: NodeFacts) -> int:
    options = value(facts, "topologyManagerPolicyOptions", "--topology-manager-policy-options")
    if isinstance(options, str):
        options = dict(word.partition("=")[::2] for word in options.split(","))
    text = str(options.get("max-allowable-numa-nodes", "")) if isinstance(options, dict) else ""
    return int(text) if text.isascii() and text.isdigit() else MOST_NUMA_NODES


def too_many_numa_nodes(facts: NodeFacts) -> Iterator[Finding]:
    policy = value(facts, "topologyManagerPolicy", "--topology-manager-policy")
    count, allowed = len(facts.cpus.numa), _allowed_numa_nodes(facts)
    if policy in (None, "none") or count <= allowed:
        return
    yield Finding(
        "too-many-numa-nodes",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet's topology manager takes {allowed} NUMA nodes, and there are {count}: it will not start.",
        (f"topologyManagerPolicy = {policy}",),
        "Set topologyManagerPolicy: none, or from Kubernetes 1.31 on the option max-allowable-numa-nodes.",
    )


RULES: tuple[Rule, ...] = (too_many_numa_nodes,)
