# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's reservedMemory, computed: over all NUMA nodes it has to be what kubelet keeps back of memory.

kubernetes.io/docs/tasks/administer-cluster/memory-manager: the sum of reservedMemory is kubeReserved + systemReserved +
evictionHard; how it is spread is the administrator's choice. pkg/kubelet/cm/memorymanager/memory_manager.go
validateReservedMemory wants the sum only, and NUMA nodes that exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..facts.model import CpuFacts
from ..facts.reservations import Settings, UnreadableReservation, memory_kept_back

MI = 1 << 20


class NotComputable(ValueError):
    """Why it cannot be computed for a node."""


def _numa_nodes(cpus: CpuFacts) -> list[int]:
    """NUMA nodes with CPUs: one without is a slow tier of memory, where no daemon runs."""
    return sorted(int(number) for number, listed in cpus.numa.items() if listed and number.isdecimal())


def shares(total: int, nodes: Sequence[int]) -> list[Mapping[str, Any]]:
    """Equal shares of whole Mi; what is over comes to the first node. Sizes of nodes are not known."""
    each = total // len(nodes) // MI * MI
    first = total - each * (len(nodes) - 1)
    amounts = [first, *[each] * (len(nodes) - 1)]
    return [
        {"numaNode": node, "limits": {"memory": _text(amount)}}
        for node, amount in zip(nodes, amounts, strict=True)
        if amount
    ]


def _text(amount: int) -> str:
    return f"{amount // MI}Mi" if amount % MI == 0 else str(amount)


def computed(settings: Settings, cpus: CpuFacts) -> list[Mapping[str, Any]]:
    """reservedMemory for these reservations; NotComputable says why there is none."""
    try:
        total = memory_kept_back(settings)
    except UnreadableReservation as error:
        raise NotComputable(str(error)) from None
    if total is None:
        raise NotComputable(
            "evictionHard has a share of the memory in memory.available, of which kubelet alone counts the bytes"
        )
    if total <= 0 or total.denominator != 1:
        raise NotComputable(f"kubelet keeps {float(total):g} bytes of memory back, which is no whole amount to reserve")
    nodes = _numa_nodes(cpus)
    if not nodes:
        raise NotComputable("no NUMA node with CPUs is known of this node")
    return shares(int(total), nodes)
