# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices beside the pods: weight and protected memory by their reservation, and those that kubelet must find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..facts.model import Driver
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
ASKS_SYSTEMD = (1, 25)
"""From then on, at the latest, kubelet's systemd driver sets unit properties beside the kernel's files.

opencontainers/cgroups systemd/v1.go, v2.go Set. Kubernetes 1.20 wrote the files only (setSupportedSubsystemsV1).
"""


@dataclass(frozen=True)
class Share:
    """A slice, and the reservations that it stands for."""

    name: str
    reservations: tuple[Reservation, ...]

    @property
    def amounts(self) -> Amounts:
        return sum((each.amounts for each in self.reservations), Amounts())

    @property
    def enforced(self) -> tuple[Reservation, ...]:
        return tuple(each for each in self.reservations if each.enforced and each.cgroup)


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


def reserved_slices(node: QosNode, found: Sequence[Share]) -> Iterator[SliceTask]:
    """The slices that kubelet's fields name, as they have to be before it starts."""
    for share in found:
        own = [each for each in share.reservations if each.cgroup]
        if own:
            description = None if share.name == SYSTEM_SLICE else DESCRIPTIONS[own[0].word]
            yield SliceTask(share.name, description, {}, needed_controllers(node))


def kept_by_kubelet(node: QosNode, share: Share) -> bool:
    """Whether kubelet has systemd keep what it enforces; else a daemon-reload takes it away (kubernetes#104289)."""
    kubelet = node.kubelet
    asks = kubelet.driver is Driver.SYSTEMD and kubelet.version is not None and kubelet.version >= ASKS_SYSTEMD
    return asks and bool(share.enforced)


def weighed(node: QosNode, share: Share, wanted: System) -> Iterator[tuple[str, Any] | Cannot]:
    """CPUWeight, where it is ours."""
    if kept_by_kubelet(node, share):
        if wanted.cpu_weight:
            yield Cannot(LEVEL, f"CPUWeight of {share.name}", _kubelets(share))
        return
    if wanted.cpu_weight != RESERVED:
        yield "CPUWeight", int(wanted.cpu_weight) if wanted.cpu_weight else None
        return
    if not share.amounts.cpu:
        yield Cannot(LEVEL, f"CPUWeight of {share.name}", "no CPU is reserved for it, and of none follows no weight")
        return
    yield "CPUWeight", slice_weight(share.amounts.cpu, node.mode)


def _kubelets(share: Share) -> str:
    words = ", ".join(each.word for each in share.enforced)
    return f"kubelet enforces {words} on it, and asks systemd for the weight itself whenever it starts"


def protected(node: QosNode, share: Share, wanted: System) -> Iterator[tuple[str, Any] | Cannot]:
    """MemoryLow or MemoryMin as much as is reserved, and not the other; neither where none is wanted."""
    amount = int(share.amounts.memory)
    chosen = PROPERTIES.get(wanted.memory)
    if chosen and not amount:
        return
    reason = _unprotected(node, share)
    if not reason:
        yield from ((name, amount if name == chosen else None) for name in PROPERTIES.values())
    elif chosen:
        yield Cannot(LEVEL, f"{chosen} of {share.name}", reason)


def _unprotected(node: QosNode, share: Share) -> str:
    if not node.v2:
        return "systemd sets it on cgroup v2 only"
    if _memory_enforced(node, share):
        return "kubelet enforces memory on it, and its MemoryQoS may set MemoryMin"
    return obstacle(node, "memory_low")


def _memory_enforced(node: QosNode, share: Share) -> bool:
    return node.kubelet.protects_memory and any(not each.compressible_only for each in share.enforced)


def limited(node: QosNode, share: Share) -> Iterator[tuple[str, Any]]:
    """The limits that kubelet writes once at its start without telling systemd."""
    if kept_by_kubelet(node, share):
        return
    strict = sum((each.amounts for each in share.enforced if not each.compressible_only), Amounts())
    if strict.memory:
        yield "MemoryMax", int(strict.memory)
    if strict.pids:
        yield "TasksMax", int(strict.pids)


def slice_tasks(
    node: QosNode, found: Sequence[Share], wanted: System
) -> tuple[tuple[SliceTask, ...], tuple[Cannot, ...]]:
    """Every slice with its properties, and why some have none."""
    bases: Mapping[str, SliceTask] = {each.name: each for each in reserved_slices(node, found)}
    tasks, cannot = [], []
    for share in found:
        decided = [*weighed(node, share, wanted), *protected(node, share, wanted), *limited(node, share)]
        properties = dict(each for each in decided if not isinstance(each, Cannot))
        cannot += [each for each in decided if isinstance(each, Cannot)]
        base = bases.get(share.name, SliceTask(share.name))
        if properties or base.controllers:
            tasks.append(replace(base, properties=properties))
    return tuple(tasks), tuple(cannot)
