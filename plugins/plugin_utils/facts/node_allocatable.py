# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources that kubelet reserves by its effective settings, and the reservedMemory that they require.

kubernetes.io/docs/tasks/administer-cluster/memory-manager: the sum of reservedMemory is kubeReserved + systemReserved +
evictionHard; the administrator chooses its distribution. pkg/kubelet/cm/memorymanager/memory_manager.go
validateReservedMemory only requires the sum, and NUMA nodes that exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ...module_utils.errors import value_problem
from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..profile.kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    EVICTION_HARD,
    KUBE_RESERVED,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
)
from ..releases.kubelet_features import parse_bool
from .kubelet_state import Setting
from .node_state import CpuFacts

EVICTION_DEFAULT = "100Mi"
"""memory.available if evictionHard is not set (pkg/kubelet/apis/config/v1beta1/defaults_linux.go)."""

LARGEST = 1 << 63

Settings = Mapping[str, Setting]


class UnreadableReservation(ValueError):
    """A reservation that kubelet does not accept."""


@dataclass(frozen=True)
class CpuReservation:
    """Reserved whole CPUs; ``ids`` if they are named (reservedSystemCPUs), else kubelet uses the lowest cores."""

    count: int
    ids: frozenset[int] | None = None


def table_setting(settings: Settings, key: str) -> Mapping[str, Any]:
    """The value of a field that is a table; empty if it is not set."""
    value = settings[key].value if key in settings else None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnreadableReservation(f"{key} is not a table of resources and amounts")
    return value


def _parse_amount(key: str, resource: str, value: Any) -> Fraction:
    # The decoder does not accept a number as a string: `cpu: 1` is not `cpu: "1"`.
    if not isinstance(value, str):
        raise UnreadableReservation(f"{key}.{resource} is not a string")
    if value != value.strip():
        raise UnreadableReservation(f"{key}.{resource}: {value!r} has whitespace around it")
    try:
        amount = parse_quantity(value)
    except ValueError as error:
        raise UnreadableReservation(f"{key}.{resource}: {value_problem(error)}") from None
    if abs(amount) >= LARGEST:
        raise UnreadableReservation(f"{key}.{resource} does not fit in 64 bits")
    return amount


RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
"""cmd/kubelet/app/server.go parseResourceList."""


def require_reservable(settings: Settings) -> None:
    """Raise UnreadableReservation for a resource or an amount that kubelet cannot reserve."""
    for key in (SYSTEM_RESERVED.key, KUBE_RESERVED.key):
        for resource, value in table_setting(settings, key).items():
            # reservedSystemCPUs replaces both before they are read.
            if resource == "cpu" and RESERVED_SYSTEM_CPUS.key in settings:
                continue
            if resource not in RESERVABLE:
                raise UnreadableReservation(f"{key}.{resource} cannot be reserved")
            if _parse_amount(key, resource, value) < 0:
                raise UnreadableReservation(f"{key}.{resource} is negative")


def reserved_amount(settings: Settings, resource: str) -> Fraction:
    """systemReserved plus kubeReserved of a resource; UnreadableReservation if kubelet refuses one of them."""
    amounts = [(key, table_setting(settings, key)) for key in (SYSTEM_RESERVED.key, KUBE_RESERVED.key)]
    return sum(
        (_parse_amount(key, resource, table[resource]) for key, table in amounts if resource in table), Fraction(0)
    )


def cpu_reservation(settings: Settings) -> CpuReservation:
    """The reserved CPUs; named ones replace counted ones (cmd/kubelet/app/server.go)."""
    listed = settings[RESERVED_SYSTEM_CPUS.key].value if RESERVED_SYSTEM_CPUS.key in settings else None
    if listed in (None, ""):
        return CpuReservation(ceil(reserved_amount(settings, "cpu")))
    try:
        ids = parse_cpu_list(str(listed))
    except ValueError as error:
        raise UnreadableReservation(f"{RESERVED_SYSTEM_CPUS.key}: {value_problem(error)}") from None
    return CpuReservation(len(ids), ids)


def has_strict_cpu_reservation(settings: Settings) -> bool:
    """Whether strict-cpu-reservation keeps the reserved CPUs out of the shared set."""
    options = settings[CPU_MANAGER_OPTIONS.key].value if CPU_MANAGER_OPTIONS.key in settings else None
    return isinstance(options, Mapping) and parse_bool(options.get("strict-cpu-reservation")) is True


def reserved_memory_total(settings: Settings) -> Fraction | None:
    """kubeReserved + systemReserved + evictionHard memory in bytes; None if evictionHard is a percentage."""
    threshold = str(table_setting(settings, EVICTION_HARD.key).get("memory.available", "0"))
    if EVICTION_HARD.key not in settings:
        threshold = EVICTION_DEFAULT
    if threshold.endswith("%"):
        return None
    return reserved_amount(settings, "memory") + _parse_amount(EVICTION_HARD.key, "memory.available", threshold)


@dataclass(frozen=True)
class NumaAmount:
    """One limit of reservedMemory; the NUMA node as written."""

    node: str
    resource: str
    amount: Fraction


def numa_amounts(settings: Settings) -> tuple[NumaAmount, ...]:
    """The limits of reservedMemory; UnreadableReservation if kubelet does not accept them."""
    entries = settings[RESERVED_MEMORY.key].value if RESERVED_MEMORY.key in settings else None
    if not isinstance(entries, (list, type(None))):
        raise UnreadableReservation(f"{RESERVED_MEMORY.key} is not a list")
    return tuple(amount for entry in entries or () for amount in _numa_entry(entry))


def _numa_entry(entry: Any) -> Iterator[NumaAmount]:
    limits = entry.get("limits") if isinstance(entry, Mapping) else None
    if not isinstance(limits, Mapping):
        raise UnreadableReservation(f"{RESERVED_MEMORY.key} has an entry without limits")
    for resource, amount in limits.items():
        # A Quantity, unlike the other tables, may be written as a number.
        parsed = _parse_amount(RESERVED_MEMORY.key, str(resource), str(amount))
        yield NumaAmount(str(entry.get("numaNode")), str(resource), parsed)


MI = 1 << 20


class NotComputable(ValueError):
    """reservedMemory cannot be computed for a node; the message says why."""


def _numa_nodes(cpus: CpuFacts) -> list[int]:
    """NUMA nodes with CPUs; a NUMA node without CPUs is slow memory, where no daemon runs."""
    return sorted(int(number) for number, listed in cpus.numa.items() if listed and number.isdecimal())


def equal_shares(total: int, nodes: Sequence[int]) -> list[Mapping[str, Any]]:
    """Equal shares in whole Mi; the first node gets the remainder. The sizes of NUMA nodes are not known."""
    share = total // len(nodes) // MI * MI
    first = total - share * (len(nodes) - 1)
    amounts = [first, *[share] * (len(nodes) - 1)]
    return [
        {"numaNode": node, "limits": {"memory": _quantity_text(amount)}}
        for node, amount in zip(nodes, amounts, strict=True)
        if amount
    ]


def _quantity_text(amount: int) -> str:
    return f"{amount // MI}Mi" if amount % MI == 0 else str(amount)


def compute_reserved_memory(settings: Settings, cpus: CpuFacts) -> list[Mapping[str, Any]]:
    """reservedMemory for these reservations; NotComputable if there is none."""
    try:
        total = reserved_memory_total(settings)
    except UnreadableReservation as error:
        raise NotComputable(str(error)) from None
    if total is None:
        raise NotComputable(
            "memory.available of evictionHard is a percentage, and only kubelet knows its number of bytes"
        )
    if total <= 0 or total.denominator != 1:
        raise NotComputable(f"kubelet reserves {float(total):g} bytes of memory, which is not a positive whole number")
    nodes = _numa_nodes(cpus)
    if not nodes:
        raise NotComputable("the node has no known NUMA node with CPUs")
    return equal_shares(int(total), nodes)
