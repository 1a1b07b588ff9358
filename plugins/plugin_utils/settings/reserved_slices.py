# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's reservations, and their slices with weight, protection and limits.

On cgroup v2 kubelet computes the weight of kubepods with its own linear formula, in which a CPU is 39, while a slice
without a weight has systemd's 100 (kubernetes#139790). On v1 kubelet writes shares, and systemd converts a weight to
shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, slice_of
from ...module_utils.settings.weight_scales import WEIGHT_MAX, kubelet_weight, shares_of_milli_cpu, weight_of_shares
from ..facts.node_allocatable import Settings, cpu_reservation, reserved_amount
from ..facts.node_state import CgroupMode
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import (
    ENFORCE_NODE_ALLOCATABLE,
    KUBE_RESERVED,
    KUBE_RESERVED_CGROUP,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    SYSTEM_RESERVED_CGROUP,
)
from ..rules.reservations import NEEDED_V1, NEEDED_V2
from .node_support import KubeletSettings, QosNode, SliceTask, Unsupported, unsupported_reason
from .qos_profile import RESERVED_WEIGHT, SystemProfile

SYSTEM_SLICE = "system.slice"
COMPRESSIBLE = "-compressible"
SYSTEM_LEVEL = "system"
DESCRIPTIONS = {
    "system-reserved": "Reserved for the system (volcano.colocation)",
    "kube-reserved": "Reserved for Kubernetes (volcano.colocation)",
}
MEMORY_PROPERTIES = {"low": "MemoryLow", "min": "MemoryMin"}


@dataclass(frozen=True)
class ReservedAmounts:
    """What is reserved: CPUs, bytes of memory, processes."""

    cpu: Fraction = Fraction(0)
    memory: Fraction = Fraction(0)
    pids: Fraction = Fraction(0)

    def __add__(self, other: ReservedAmounts) -> ReservedAmounts:
        return ReservedAmounts(self.cpu + other.cpu, self.memory + other.memory, self.pids + other.pids)


@dataclass(frozen=True)
class Reservation:
    """One of kubelet's two reservations. ``cgroup``: the text of kubelet's field; None if it is not set."""

    word: str
    field: KubeletField
    amounts: ReservedAmounts
    cgroup: str | None
    enforced: bool
    compressible_only: bool


def reserved_amounts(settings: Settings, field: KubeletField) -> ReservedAmounts:
    """The amounts of systemReserved or kubeReserved; UnreadableReservation for a value that kubelet would refuse."""
    alone = {field.key: settings[field.key]} if field.key in settings else {}
    return ReservedAmounts(
        reserved_amount(alone, "cpu"), reserved_amount(alone, "memory"), reserved_amount(alone, "pid")
    )


def _with_reserved_cpus(settings: Settings, field: KubeletField, amounts: ReservedAmounts) -> ReservedAmounts:
    # reservedSystemCPUs replaces both CPU amounts: cmd/kubelet/app/server.go.
    if not (RESERVED_SYSTEM_CPUS.key in settings and settings[RESERVED_SYSTEM_CPUS.key].value):
        return amounts
    cpus = cpu_reservation(settings).count if field is SYSTEM_RESERVED else 0
    return ReservedAmounts(Fraction(cpus), amounts.memory, amounts.pids)


def kubelet_reservations(kubelet: KubeletSettings, desired: Mapping[str, str]) -> tuple[Reservation, ...]:
    """Both effective reservations; ``desired``: the cgroups, by field, that kubelet's configuration will name."""
    enforced = kubelet.value(ENFORCE_NODE_ALLOCATABLE.key) or ()
    words = frozenset(enforced.split(",") if isinstance(enforced, str) else map(str, enforced))
    reservations = []
    for word, field, cgroup_field in (
        ("system-reserved", SYSTEM_RESERVED, SYSTEM_RESERVED_CGROUP),
        ("kube-reserved", KUBE_RESERVED, KUBE_RESERVED_CGROUP),
    ):
        amounts = _with_reserved_cpus(kubelet.settings, field, reserved_amounts(kubelet.settings, field))
        cgroup = desired.get(cgroup_field.key) or kubelet.value(cgroup_field.key)
        reservations.append(
            Reservation(
                word,
                cgroup_field,
                amounts,
                str(cgroup) if cgroup else None,
                enforced=bool(words & {word, word + COMPRESSIBLE}),
                compressible_only=word + COMPRESSIBLE in words,
            )
        )
    return tuple(reservations)


def slice_weight(cpus: Fraction, mode: CgroupMode) -> int:
    """CPUWeight of a slice with this many reserved CPUs; thousandths are rounded up, as in kubelet."""
    shares = shares_of_milli_cpu(ceil(cpus * 1000))
    return kubelet_weight(shares) if mode is CgroupMode.V2 else min(WEIGHT_MAX, weight_of_shares(shares))


@dataclass(frozen=True)
class SliceShare:
    """A slice, and the reservations that belong to it."""

    name: str
    reservations: tuple[Reservation, ...]

    @property
    def amounts(self) -> ReservedAmounts:
        return sum((reservation.amounts for reservation in self.reservations), ReservedAmounts())

    @property
    def configured(self) -> tuple[Reservation, ...]:
        """The reservations whose field in kubelet's configuration names the slice."""
        return tuple(reservation for reservation in self.reservations if reservation.cgroup)

    @property
    def enforced(self) -> tuple[Reservation, ...]:
        return tuple(reservation for reservation in self.configured if reservation.enforced)


def group_by_slice(
    node: QosNode, reservations: Sequence[Reservation]
) -> tuple[tuple[SliceShare, ...], tuple[Unsupported, ...]]:
    """Each slice with its reservations; system.slice has those without a cgroup."""
    parts: dict[str, list[Reservation]] = {SYSTEM_SLICE: []}
    unsupported = []
    for reservation in reservations:
        name, driver = SYSTEM_SLICE, node.kubelet.driver
        if reservation.cgroup:
            name = slice_of(reservation.cgroup, driver) if driver else ""
        if name:
            parts.setdefault(name, []).append(reservation)
        else:
            unsupported.append(Unsupported(SYSTEM_LEVEL, reservation.field.key, _no_slice_reason(reservation, driver)))
    return tuple(SliceShare(name, tuple(reservations)) for name, reservations in parts.items()), tuple(unsupported)


def _no_slice_reason(reservation: Reservation, driver: Driver | None) -> str:
    if driver is None:
        return "kubelet's cgroup driver is not known, and therefore the slice that it means"
    if driver is Driver.CGROUPFS:
        return (
            f"{reservation.cgroup} is not the path of a slice, and systemd keeps only slices:"
            " write a path such as /runtime.slice or /runtime.slice/runtime-kube.slice"
        )
    return f"{reservation.cgroup} is not the name of a slice: each dash in it starts a level, and no level may be empty"


def needed_controllers(node: QosNode) -> tuple[str, ...]:
    """The controllers in which kubelet checks a reserved cgroup at its start."""
    return tuple(controller for controller in (NEEDED_V2 if node.v2 else NEEDED_V1) if controller in node.controllers)


def weight_properties(
    node: QosNode, share: SliceShare, system: SystemProfile
) -> Iterator[tuple[str, Any] | Unsupported]:
    """CPUWeight; if kubelet enforces the reservation, the same weight that kubelet writes at its start."""
    if not share.enforced and system.cpu_weight != RESERVED_WEIGHT:
        if system.cpu_weight:
            yield "CPUWeight", int(system.cpu_weight)
        return
    if system.cpu_weight != RESERVED_WEIGHT:
        words = ", ".join(reservation.word for reservation in share.enforced)
        reason = f"kubelet enforces {words} on it, and writes the weight of the reservation at each start"
        yield Unsupported(SYSTEM_LEVEL, f"CPUWeight {system.cpu_weight or 'by default'} of {share.name}", reason)
    if share.amounts.cpu:
        yield "CPUWeight", slice_weight(share.amounts.cpu, node.mode)
    else:
        yield Unsupported(
            SYSTEM_LEVEL, f"CPUWeight of {share.name}", "no CPU is reserved for it, so no weight can be derived"
        )


def memory_properties(
    node: QosNode, share: SliceShare, system: SystemProfile
) -> Iterator[tuple[str, Any] | Unsupported]:
    """MemoryLow or MemoryMin, with the amount of the reservation."""
    chosen = MEMORY_PROPERTIES.get(system.memory)
    amount = int(share.amounts.memory)
    if chosen is None or not amount:
        return
    reason = _unprotected_reason(node, share)
    yield Unsupported(SYSTEM_LEVEL, f"{chosen} of {share.name}", reason) if reason else (chosen, amount)


def _unprotected_reason(node: QosNode, share: SliceShare) -> str:
    if not node.v2:
        return "systemd sets it on cgroup v2 only"
    if node.kubelet.protects_memory and any(not reservation.compressible_only for reservation in share.enforced):
        return "kubelet enforces memory on it, and its MemoryQoS may set MemoryMin"
    return unsupported_reason(node, "memory_low")


def limit_properties(share: SliceShare) -> Iterator[tuple[str, Any]]:
    """The limits that kubelet enforces: it writes them once, at its start.

    A daemon-reload removes them unless systemd knows them (kubernetes#104289), which depends on driver and version.
    """
    strict = sum(
        (reservation.amounts for reservation in share.enforced if not reservation.compressible_only), ReservedAmounts()
    )
    if strict.memory:
        yield "MemoryMax", int(strict.memory)
    if strict.pids:
        yield "TasksMax", int(strict.pids)


def plan_slice(node: QosNode, share: SliceShare, system: SystemProfile) -> tuple[SliceTask, tuple[Unsupported, ...]]:
    """The slice with all its properties; systemd_slice restores a property that it set before and is not in these."""
    decided = [
        *weight_properties(node, share, system),
        *memory_properties(node, share, system),
        *limit_properties(share),
    ]
    properties = dict(result for result in decided if not isinstance(result, Unsupported))
    unsupported = tuple(result for result in decided if isinstance(result, Unsupported))
    if not share.configured:
        state = "present" if properties else "absent"
        return SliceTask(share.name, state, properties=properties), unsupported
    description = None if share.name == SYSTEM_SLICE else DESCRIPTIONS[share.configured[0].word]
    return SliceTask(share.name, "present", description, properties, needed_controllers(node)), unsupported
