# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices of kubelet's reservations, with weight, protection and limits.

On cgroup v2 kubelet gives kubepods a weight by its own linear formula, by which a CPU is 39, while a slice without a
weight has systemd's 100 (kubernetes#139790). On v1 kubelet writes shares, and systemd makes shares of a weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.settings.weight_scales import WEIGHT_MAX, kubelet_weight, shares_of_milli_cpu, weight_of_shares
from ..facts.node_state import CgroupMode
from ..rules.reservations import NEEDED_V1, NEEDED_V2
from .kubelet_reservations import SYSTEM_SLICE, Reservation, ReservedAmounts, slice_of
from .node_support import QosNode, SliceTask, Unsupported, unsupported_reason
from .qos_profile import RESERVED_WEIGHT, SystemProfile


def slice_weight(cpus: Fraction, mode: CgroupMode) -> int:
    """CPUWeight of a slice for which so many CPUs are reserved; thousandths are rounded up as kubelet does it."""
    shares = shares_of_milli_cpu(ceil(cpus * 1000))
    return kubelet_weight(shares) if mode is CgroupMode.V2 else min(WEIGHT_MAX, weight_of_shares(shares))


SYSTEM_LEVEL = "system"
DESCRIPTIONS = {
    "system-reserved": "Reserved for the system (volcano.colocation)",
    "kube-reserved": "Reserved for Kubernetes (volcano.colocation)",
}
MEMORY_PROPERTIES = {"low": "MemoryLow", "min": "MemoryMin"}


@dataclass(frozen=True)
class SliceShare:
    """A slice, and the reservations that it stands for."""

    name: str
    reservations: tuple[Reservation, ...]

    @property
    def amounts(self) -> ReservedAmounts:
        return sum((each.amounts for each in self.reservations), ReservedAmounts())

    @property
    def named(self) -> tuple[Reservation, ...]:
        """Those whose field in kubelet's configuration names the slice."""
        return tuple(each for each in self.reservations if each.cgroup)

    @property
    def enforced(self) -> tuple[Reservation, ...]:
        return tuple(each for each in self.named if each.enforced)


def group_by_slice(
    node: QosNode, found: Sequence[Reservation]
) -> tuple[tuple[SliceShare, ...], tuple[Unsupported, ...]]:
    """Each slice with what it stands for: system.slice with all that has no cgroup of its own."""
    parts: dict[str, list[Reservation]] = {SYSTEM_SLICE: []}
    cannot = []
    for each in found:
        name, driver = SYSTEM_SLICE, node.kubelet.driver
        if each.cgroup:
            name = slice_of(each.cgroup, driver) if driver else ""
        if name:
            parts.setdefault(name, []).append(each)
        else:
            cannot.append(Unsupported(SYSTEM_LEVEL, each.field.key, _no_slice_reason(each, driver)))
    return tuple(SliceShare(name, tuple(each)) for name, each in parts.items()), tuple(cannot)


def _no_slice_reason(reservation: Reservation, driver: Driver | None) -> str:
    if driver is None:
        return "kubelet's cgroup driver is not known, and so not which slice it means"
    if driver is Driver.CGROUPFS:
        return (
            f"{reservation.cgroup} is no slice's path, and systemd keeps only slices:"
            " write one such as /runtime.slice or /runtime.slice/runtime-kube.slice"
        )
    return f"{reservation.cgroup} is no slice's name: each dash in it starts a level, and none may be empty"


def needed_controllers(node: QosNode) -> tuple[str, ...]:
    """The controllers in which kubelet looks for a reserved cgroup before it starts."""
    return tuple(each for each in (NEEDED_V2 if node.v2 else NEEDED_V1) if each in node.controllers)


def weight_properties(
    node: QosNode, share: SliceShare, wanted: SystemProfile
) -> Iterator[tuple[str, Any] | Unsupported]:
    """CPUWeight; where kubelet enforces the reservation, the very weight that kubelet writes at its start."""
    if not share.enforced and wanted.cpu_weight != RESERVED_WEIGHT:
        if wanted.cpu_weight:
            yield "CPUWeight", int(wanted.cpu_weight)
        return
    if wanted.cpu_weight != RESERVED_WEIGHT:
        words = ", ".join(each.word for each in share.enforced)
        reason = f"kubelet enforces {words} on it, and writes the weight of what is reserved whenever it starts"
        yield Unsupported(SYSTEM_LEVEL, f"CPUWeight {wanted.cpu_weight or 'by default'} of {share.name}", reason)
    if share.amounts.cpu:
        yield "CPUWeight", slice_weight(share.amounts.cpu, node.mode)
    else:
        yield Unsupported(
            SYSTEM_LEVEL, f"CPUWeight of {share.name}", "no CPU is reserved for it, and of none follows no weight"
        )


def memory_properties(
    node: QosNode, share: SliceShare, wanted: SystemProfile
) -> Iterator[tuple[str, Any] | Unsupported]:
    """MemoryLow or MemoryMin, as much as is reserved."""
    chosen = MEMORY_PROPERTIES.get(wanted.memory)
    amount = int(share.amounts.memory)
    if chosen is None or not amount:
        return
    reason = _unprotected_reason(node, share)
    yield Unsupported(SYSTEM_LEVEL, f"{chosen} of {share.name}", reason) if reason else (chosen, amount)


def _unprotected_reason(node: QosNode, share: SliceShare) -> str:
    if not node.v2:
        return "systemd sets it on cgroup v2 only"
    if node.kubelet.protects_memory and any(not each.compressible_only for each in share.enforced):
        return "kubelet enforces memory on it, and its MemoryQoS may set MemoryMin"
    return unsupported_reason(node, "memory_low")


def limit_properties(share: SliceShare) -> Iterator[tuple[str, Any]]:
    """The limits that kubelet enforces: it writes them once, at its start.

    A daemon-reload takes them away unless systemd knows them (kubernetes#104289), which depends on driver and version.
    """
    strict = sum((each.amounts for each in share.enforced if not each.compressible_only), ReservedAmounts())
    if strict.memory:
        yield "MemoryMax", int(strict.memory)
    if strict.pids:
        yield "TasksMax", int(strict.pids)


def plan_slice(node: QosNode, share: SliceShare, wanted: SystemProfile) -> tuple[SliceTask, tuple[Unsupported, ...]]:
    """The slice with all its properties; systemd_slice takes back what it set before and is not named any more."""
    decided = [
        *weight_properties(node, share, wanted),
        *memory_properties(node, share, wanted),
        *limit_properties(share),
    ]
    properties = dict(each for each in decided if not isinstance(each, Unsupported))
    cannot = tuple(each for each in decided if isinstance(each, Unsupported))
    if not share.named:
        state = "present" if properties else "absent"
        return SliceTask(share.name, state, properties=properties), cannot
    description = None if share.name == SYSTEM_SLICE else DESCRIPTIONS[share.named[0].word]
    return SliceTask(share.name, "present", description, properties, needed_controllers(node)), cannot
