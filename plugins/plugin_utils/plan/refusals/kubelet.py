# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubelet is not touched: where its settings cannot be written, and what it would not start with."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from ....module_utils.snapshot.processes import option
from ...facts.model import NodeFacts
from ...kubelet_fields import KUBE_RESERVED, RESERVED_SYSTEM_CPUS, SYSTEM_RESERVED
from ...profile import Profile
from ...quantity import format_cpu_list, parse_cpu_list, parse_quantity
from ..kubelet import desired_fields, merged_reservation
from ..model import Refusal
from .model import Rule, unsafe_file


def _installed(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.layout.kubelet_inside:
        yield Refusal(
            "kubelet-inside",
            f"{facts.layout.kubelet_inside} runs kubelet inside its own process and gives it flags, no file",
            f"Set kubelet-arg in {facts.layout.kubelet_inside}'s own configuration; this release does not.",
        )
    elif not facts.kubelet.installed:
        yield Refusal(
            "kubelet-missing", "no kubelet program was found", "Install kubelet first; this collection does not."
        )


def _config(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    yield from unsafe_file(facts.kubelet.config)
    if facts.kubelet.installed and facts.kubelet.config.kind == "missing":
        yield Refusal(
            "kubelet-config-missing",
            "kubelet runs without this file",
            "Start kubelet with --config and move its flags there; flags are never added by this collection.",
            file=facts.kubelet.config.path,
        )


def _flags(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    argv = facts.kubelet.command_line
    for field in dict.fromkeys(field for field, _keys, _value in desired_fields(profile)):
        value = option(argv, field.flag)
        if value is not None:
            yield Refusal(
                "flag-overrides-config",
                f"kubelet is started with {field.flag}={value}, which beats {field.key} in any file",
                "Take the flag out of kubelet's unit, its drop-ins or their environment files and restart kubelet.",
                file=facts.kubelet.config.path,
            )


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


RULES: tuple[Rule, ...] = (_installed, _config, _flags, _reserved_cpus, _static)
