# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet would not start with."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from ...facts.model import NodeFacts
from ...kubelet_fields import KUBE_RESERVED, RESERVED_SYSTEM_CPUS, SYSTEM_RESERVED
from ...profile import Profile
from ...quantity import format_cpu_list, parse_cpu_list, parse_quantity
from ..kubelet import merged_reservation
from ..model import Refusal
from .model import Rule


def _reserved_cpus(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if profile.reserved_system_cpus is None:
        return
    missing = parse_cpu_list(profile.reserved_system_cpus) - facts.online_cpus
    if missing and facts.online_cpus:
        yield Refusal(
            "reserved-cpu-offline",
            f"CPU {format_cpu_list(missing)} is not online; online are {format_cpu_list(facts.online_cpus)}",
            "Reserve online CPUs.",
            variable="reserved_system_cpus",
        )
    for key in ("systemReservedCgroup", "kubeReservedCgroup"):
        if facts.kubelet.config.values.get(key):
            yield Refusal(
                "reserved-cpus-exclude-cgroups",
                f"{key} is set, and kubelet refuses it together with reservedSystemCPUs",
                "Use system_reserved and kube_reserved instead.",
                file=facts.kubelet.config.path,
                variable="reserved_system_cpus",
            )


def _static(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if (profile.cpu_manager_policy or facts.kubelet.cpu_manager_policy) != "static":
        return
    try:
        merged = merged_reservation(facts.kubelet, profile)
        if merged[RESERVED_SYSTEM_CPUS.key]:
            reserved = len(parse_cpu_list(str(merged[RESERVED_SYSTEM_CPUS.key])))
        else:
            tables = (merged[SYSTEM_RESERVED.key], merged[KUBE_RESERVED.key])
            reserved = ceil(sum(parse_quantity(str(table.get("cpu", 0))) for table in tables))
    except ValueError as error:
        yield Refusal("reservation-unreadable", str(error), "Correct the reservation.", file=facts.kubelet.config.path)
        return
    yield from _static_reservation(reserved, len(facts.online_cpus))


def _static_reservation(reserved: int, online: int) -> Iterator[Refusal]:
    if reserved <= 0:
        yield Refusal(
            "static-without-reservation",
            "the static CPU manager needs CPUs reserved for the system; kubelet would not start",
            "Set cpu in system_reserved or kube_reserved, or set reserved_system_cpus.",
            variable="cpu_manager_policy",
        )
    elif 0 < online <= reserved:
        yield Refusal(
            "reservation-too-large",
            f"{reserved} CPUs would be reserved of {online} online, which leaves none for pods",
            "Reserve fewer.",
            variable="system_reserved, kube_reserved, reserved_system_cpus",
        )


RULES: tuple[Rule, ...] = (_reserved_cpus, _static)
