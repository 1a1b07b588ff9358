# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory manager and reservedMemory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from ..facts.node_allocatable import (
    NotComputable,
    NumaAmount,
    UnreadableReservation,
    compute_reserved_memory,
    numa_amounts,
    reserved_memory_total,
)
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.desired_state import settings_after
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import FEATURE_GATES, MEMORY_MANAGER_POLICY, RESERVED_MEMORY
from ..profile.validators import AUTO
from ..releases.kubelet_features import MEMORY_MANAGER
from ..releases.versions import minor
from .evidence import is_true, quote_claims, table, value
from .rule_types import Effect, Finding, Severity, start_failure

ON_BY_DEFAULT = (1, 22)
"""Of the gate MemoryManager, pkg/features/kube_features.go."""


_RESOURCE = re.compile(r"memory|hugepages-.+")


def _old(facts: NodeFacts) -> bool:
    version = minor(facts.kubelet.version)
    return version is not None and version < MEMORY_MANAGER_POLICY.since


def _is_static(facts: NodeFacts) -> bool:
    return value(facts, MEMORY_MANAGER_POLICY.key) == "Static" and not _old(facts)


def _wrong(facts: NodeFacts, amounts: tuple[NumaAmount, ...]) -> Iterator[str]:
    """validation_reserved_memory.go; the NUMA nodes: memorymanager/memory_manager.go getTotalMemoryTypeReserved."""
    pairs = [(entry.node, entry.resource) for entry in amounts]
    for entry in amounts:
        if not _RESOURCE.fullmatch(entry.resource):
            yield f"{entry.resource} is neither memory nor hugepages-SIZE"
        if not entry.amount:
            yield f"NUMA node {entry.node} has no amount of {entry.resource}"
        if _is_static(facts) and facts.cpus.numa and entry.node not in facts.cpus.numa:
            yield f"NUMA node {entry.node} does not exist; the node has {', '.join(sorted(facts.cpus.numa))}"
    for node, resource in sorted({pair for pair in pairs if pairs.count(pair) > 1}):
        yield f"NUMA node {node} has {resource} twice"


def reserved_memory_refused(facts: NodeFacts) -> Iterator[Finding]:
    if _old(facts):
        return
    try:
        reasons = tuple(_wrong(facts, numa_amounts(facts.kubelet.settings)))
    except UnreadableReservation as error:
        yield start_failure(
            "reserved-memory-unreadable",
            "kubelet cannot parse reservedMemory and does not start with it.",
            (str(error), *quote_claims(facts, RESERVED_MEMORY.key)),
            "Write amounts of memory such as 1Gi.",
        )
        return
    if reasons:
        yield start_failure(
            "reserved-memory-refused",
            "kubelet does not start with this reservedMemory.",
            (*reasons, *quote_claims(facts, RESERVED_MEMORY.key)),
            "Name each NUMA node of the machine once, with amounts of memory or hugepages-SIZE.",
        )


def memory_equation(facts: NodeFacts) -> Iterator[Finding]:
    """memorymanager: the sum over NUMA nodes must equal what Node Allocatable reserves (kubernetes#102073)."""
    if not _is_static(facts):
        return
    settings = facts.kubelet.settings
    try:
        amounts = numa_amounts(settings)
    except UnreadableReservation:
        return
    try:
        total = reserved_memory_total(settings)
    except UnreadableReservation as error:
        yield start_failure(
            "reserved-memory-unreadable",
            "kubelet cannot parse a reservation of memory and does not start with it.",
            (str(error),),
            "Write amounts of memory such as 1Gi.",
        )
        return
    reserved = sum((entry.amount for entry in amounts if entry.resource == "memory"), Fraction(0))
    if total is not None and (reserved != total or not reserved):
        yield start_failure(
            "reserved-memory-unequal",
            "kubelet does not start: for the Static memory manager reservedMemory must equal the sum of systemReserved,"
            " kubeReserved and evictionHard.",
            (
                f"reservedMemory: {int(reserved)} bytes",
                f"systemReserved + kubeReserved + evictionHard: {int(total)} bytes",
                *quote_claims(facts, RESERVED_MEMORY.key, MEMORY_MANAGER_POLICY.key),
                *quote_claims(facts, "systemReserved", "kubeReserved", "evictionHard"),
            ),
            "Spread exactly that sum over the NUMA nodes in reservedMemory; evictionHard is 100Mi by default.",
        )
    huge = sorted({entry.resource for entry in amounts if entry.resource.startswith("hugepages-")})
    if huge:
        yield start_failure(
            "reserved-hugepages",
            "kubelet does not start: for the Static memory manager reservedMemory must not have huge pages, because"
            " kubelet reserves none.",
            (f"reservedMemory has {', '.join(huge)}", *quote_claims(facts, RESERVED_MEMORY.key)),
            "Remove the huge pages from reservedMemory.",
        )


def memory_manager_off(facts: NodeFacts) -> Iterator[Finding]:
    """1.21 ignores the policy without the gate, which was alpha."""
    version = minor(facts.kubelet.version)
    gates = table(facts, FEATURE_GATES.key)
    if not _is_static(facts) or version is None:
        return
    if not is_true(gates.get(MEMORY_MANAGER, version >= ON_BY_DEFAULT)):
        yield Finding(
            "memory-manager-off",
            Severity.WARNING,
            Effect.NONE,
            "memoryManagerPolicy Static has no effect while the gate MemoryManager is off.",
            (*quote_claims(facts, MEMORY_MANAGER_POLICY.key), *quote_claims(facts, FEATURE_GATES.key)),
            "Enable the gate; from 1.22 on it is on by default.",
        )


def refuse_reserved_memory(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.profile.reserved_memory != AUTO:
        return
    try:
        compute_reserved_memory(settings_after(draft.kubelet.settings, draft.profile), draft.facts.cpus)
    except NotComputable as error:
        yield Refusal(
            "reserved-memory-not-computable",
            f"{RESERVED_MEMORY.key} cannot be computed: {error}",
            "Write the list yourself; each entry has numaNode and limits.",
            variable="reserved_memory",
        )
