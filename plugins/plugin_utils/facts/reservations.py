# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet keeps back from pods, from its settings in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ...module_utils.quantity import parse_cpu_list, parse_quantity
from ..kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    EVICTION_HARD,
    KUBE_RESERVED,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
)
from ..kubelet_policy_options import switched_on
from .kubelet_model import Setting

EVICTION_DEFAULT = "100Mi"
"""memory.available where evictionHard is not set at all (pkg/kubelet/apis/config/v1beta1/defaults_linux.go)."""

LARGEST = 1 << 63

Settings = Mapping[str, Setting]


class UnreadableReservation(ValueError):
    """A reservation that kubelet would not read."""


@dataclass(frozen=True)
class CpuReservation:
    """Whole CPUs kept back; ``ids`` when they are named (reservedSystemCPUs), else kubelet takes the lowest cores."""

    count: int
    ids: frozenset[int] | None = None


def table(settings: Settings, key: str) -> Mapping[str, Any]:
    """A field that is a table; empty where it is not set."""
    value = settings[key].value if key in settings else None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnreadableReservation(f"{key} is not a table of resources and amounts")
    return value


def _amount(key: str, resource: str, value: Any) -> Fraction:
    # The decoder takes no number for a string: `cpu: 1` is not `cpu: "1"`.
    if not isinstance(value, str):
        raise UnreadableReservation(f"{key}.{resource} is not written as a text")
    if value != value.strip():
        raise UnreadableReservation(f"{key}.{resource}: {value!r} has blanks around it")
    try:
        amount = parse_quantity(value)
    except ValueError as error:
        raise UnreadableReservation(f"{key}.{resource}: {error}") from None
    if abs(amount) >= LARGEST:
        raise UnreadableReservation(f"{key}.{resource} is more than a number of 64 bits")
    return amount


RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
"""cmd/kubelet/app/server.go parseResourceList."""


def require_reservable(settings: Settings) -> None:
    """UnreadableReservation for a resource or an amount that kubelet does not reserve."""
    for key in (SYSTEM_RESERVED.key, KUBE_RESERVED.key):
        for resource, value in table(settings, key).items():
            # reservedSystemCPUs takes the place of both before they are read.
            if resource == "cpu" and RESERVED_SYSTEM_CPUS.key in settings:
                continue
            if resource not in RESERVABLE:
                raise UnreadableReservation(f"{key}.{resource} cannot be reserved")
            if _amount(key, resource, value) < 0:
                raise UnreadableReservation(f"{key}.{resource} is negative")


def reserved(settings: Settings, resource: str) -> Fraction:
    """systemReserved plus kubeReserved of a resource; UnreadableReservation when kubelet would refuse one."""
    amounts = [(key, table(settings, key)) for key in (SYSTEM_RESERVED.key, KUBE_RESERVED.key)]
    return sum((_amount(key, resource, each[resource]) for key, each in amounts if resource in each), Fraction(0))


def cpu_reservation(settings: Settings) -> CpuReservation:
    """CPUs reserved; named ones replace the counted ones (cmd/kubelet/app/server.go)."""
    named = settings[RESERVED_SYSTEM_CPUS.key].value if RESERVED_SYSTEM_CPUS.key in settings else None
    if named in (None, ""):
        return CpuReservation(ceil(reserved(settings, "cpu")))
    try:
        ids = parse_cpu_list(str(named))
    except ValueError as error:
        raise UnreadableReservation(f"{RESERVED_SYSTEM_CPUS.key}: {error}") from None
    return CpuReservation(len(ids), ids)


def strict(settings: Settings) -> bool:
    """Whether strict-cpu-reservation keeps the reserved CPUs out of the shared set."""
    options = settings[CPU_MANAGER_OPTIONS.key].value if CPU_MANAGER_OPTIONS.key in settings else None
    return isinstance(options, Mapping) and switched_on(options.get("strict-cpu-reservation")) is True


def memory_kept_back(settings: Settings) -> Fraction | None:
    """kubeReserved + systemReserved + evictionHard memory in bytes; None where a share of the capacity is meant."""
    threshold = str(table(settings, EVICTION_HARD.key).get("memory.available", "0"))
    if EVICTION_HARD.key not in settings:
        threshold = EVICTION_DEFAULT
    if threshold.endswith("%"):
        return None
    return reserved(settings, "memory") + _amount(EVICTION_HARD.key, "memory.available", threshold)


@dataclass(frozen=True)
class NumaAmount:
    """One limit of reservedMemory; the NUMA node as written."""

    node: str
    resource: str
    amount: Fraction


def numa_amounts(settings: Settings) -> tuple[NumaAmount, ...]:
    """All that reservedMemory says; UnreadableReservation for what kubelet would not read."""
    entries = settings[RESERVED_MEMORY.key].value if RESERVED_MEMORY.key in settings else None
    if not isinstance(entries, (list, type(None))):
        raise UnreadableReservation(f"{RESERVED_MEMORY.key} is not a list")
    return tuple(each for entry in entries or () for each in _numa_entry(entry))


def _numa_entry(entry: Any) -> Iterator[NumaAmount]:
    limits = entry.get("limits") if isinstance(entry, Mapping) else None
    if not isinstance(limits, Mapping):
        raise UnreadableReservation(f"{RESERVED_MEMORY.key} has an entry without limits")
    for resource, amount in limits.items():
        # A Quantity, unlike the other tables, may be written as a number.
        parsed = _amount(RESERVED_MEMORY.key, str(resource), str(amount))
        yield NumaAmount(str(entry.get("numaNode")), str(resource), parsed)
