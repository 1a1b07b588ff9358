# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's reservations and the cgroups that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.cgroup_evidence import reserved_paths
from ..facts.node_allocatable import Settings, cpu_reservation, reserved_amount
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import (
    ENFORCE_NODE_ALLOCATABLE,
    KUBE_RESERVED,
    KUBE_RESERVED_CGROUP,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    SYSTEM_RESERVED_CGROUP,
)
from .node_support import KubeletSettings

SYSTEM_SLICE = "system.slice"
COMPRESSIBLE = "-compressible"


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


def slice_of(cgroup: str, driver: Driver) -> str:
    """The slice that a *ReservedCgroup means under a driver; empty if it is not a systemd slice.

    systemd: the last part with or without .slice; cgroupfs: the path as it is written, which must be the path of a
    slice (pkg/kubelet/cm/cgroup_manager_linux.go CgroupName).
    """
    paths = reserved_paths(cgroup)
    if len(paths) < 2:
        return ""
    expanded = paths[-1]
    if driver is Driver.CGROUPFS and expanded != cgroup.strip("/"):
        return ""
    return expanded.rpartition("/")[2]
