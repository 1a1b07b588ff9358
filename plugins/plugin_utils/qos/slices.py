# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices beside the pods: weight and protected memory by their reservation, and those that kubelet must find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..findings.rules.reservations import NEEDED_V1, NEEDED_V2
from .capability import obstacle
from .model import Cannot, SliceTask
from .node import QosNode
from .profile import RESERVED, System
from .reservations import SYSTEM_SLICE, Amounts, Reservation, slice_of
from .weights import slice_weight

LEVEL = "system"
DESCRIPTIONS = {
    "system-reserved": "Reserved for the system (volcano.colocation)",
    "kube-reserved": "Reserved for Kubernetes (volcano.colocation)",
}
PROPERTIES = {"low": "MemoryLow", "min": "MemoryMin"}


@dataclass(frozen=True)
class Share:
    """A slice, and the reservations that it stands for."""

    name: str
    reservations: tuple[Reservation, ...]

    @property
    def amounts(self) -> Amounts:
        return sum((each.amounts for each in self.reservations), Amounts())

    @property
    def named(self) -> tuple[Reservation, ...]:
        """Those whose field in kubelet's configuration names the slice."""
        return tuple(each for each in self.reservations if each.cgroup)

    @property
    def enforced(self) -> tuple[Reservation, ...]:
        return tuple(each for each in self.named if each.enforced)


def shares(node: QosNode, found: Sequence[Reservation]) -> tuple[tuple[Share, ...], tuple[Cannot, ...]]:
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
            cannot.append(Cannot(LEVEL, each.field.key, _no_slice(each, driver)))
    return tuple(Share(name, tuple(each)) for name, each in parts.items()), tuple(cannot)


def _no_slice(reservation: Reservation, driver: Driver | None) -> str:
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


def weighed(node: QosNode, share: Share, wanted: System) -> Iterator[tuple[str, Any] | Cannot]:
    """CPUWeight; where kubelet enforces the reservation, the very weight that kubelet writes at its start."""
    if not share.enforced and wanted.cpu_weight != RESERVED:
        if wanted.cpu_weight:
            yield "CPUWeight", int(wanted.cpu_weight)
        return
    if wanted.cpu_weight != RESERVED:
        words = ", ".join(each.word for each in share.enforced)
        reason = f"kubelet enforces {words} on it, and writes the weight of what is reserved whenever it starts"
        yield Cannot(LEVEL, f"CPUWeight {wanted.cpu_weight or 'by default'} of {share.name}", reason)
    if share.amounts.cpu:
        yield "CPUWeight", slice_weight(share.amounts.cpu, node.mode)
    else:
        yield Cannot(LEVEL, f"CPUWeight of {share.name}", "no CPU is reserved for it, and of none follows no weight")


def protected(node: QosNode, share: Share, wanted: System) -> Iterator[tuple[str, Any] | Cannot]:
    """MemoryLow or MemoryMin, as much as is reserved."""
    chosen = PROPERTIES.get(wanted.memory)
    amount = int(share.amounts.memory)
    if chosen is None or not amount:
        return
    reason = _unprotected(node, share)
    yield Cannot(LEVEL, f"{chosen} of {share.name}", reason) if reason else (chosen, amount)


def _unprotected(node: QosNode, share: Share) -> str:
    if not node.v2:
        return "systemd sets it on cgroup v2 only"
    if node.kubelet.protects_memory and any(not each.compressible_only for each in share.enforced):
        return "kubelet enforces memory on it, and its MemoryQoS may set MemoryMin"
    return obstacle(node, "memory_low")


def limited(share: Share) -> Iterator[tuple[str, Any]]:
    """The limits that kubelet enforces: it writes them once, at its start.

    A daemon-reload takes them away unless systemd knows them (kubernetes#104289), which depends on driver and version.
    """
    strict = sum((each.amounts for each in share.enforced if not each.compressible_only), Amounts())
    if strict.memory:
        yield "MemoryMax", int(strict.memory)
    if strict.pids:
        yield "TasksMax", int(strict.pids)


def slice_task(node: QosNode, share: Share, wanted: System) -> tuple[SliceTask, tuple[Cannot, ...]]:
    """The slice with all its properties; systemd_slice takes back what it set before and is not named any more."""
    decided = [*weighed(node, share, wanted), *protected(node, share, wanted), *limited(share)]
    properties = dict(each for each in decided if not isinstance(each, Cannot))
    cannot = tuple(each for each in decided if isinstance(each, Cannot))
    if not share.named:
        state = "present" if properties else "absent"
        return SliceTask(share.name, state, properties=properties), cannot
    description = None if share.name == SYSTEM_SLICE else DESCRIPTIONS[share.named[0].word]
    return SliceTask(share.name, "present", description, properties, needed_controllers(node)), cannot
