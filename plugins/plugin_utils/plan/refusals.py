# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node is refused before anything changes: one small function a rule, each yields what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

from ...module_utils.snapshot.processes import option
from ..containerd_schema import EDITABLE
from ..facts.model import CgroupMode, ConfigFile, NodeFacts
from ..kubelet_fields import KUBE_RESERVED, RESERVED_SYSTEM_CPUS, SYSTEM_RESERVED
from ..profile import Profile
from ..quantity import format_cpu_list, parse_cpu_list, parse_quantity
from .kubelet import desired_fields, merged_reservation
from .model import Refusal
from .runtime import nri_skip

Rule = Callable[[NodeFacts, Profile], Iterator[Refusal]]


def _pid1(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.pid1 != "systemd" and not facts.image:
        yield Refusal(
            "pid1-not-systemd",
            f"PID 1 of this node is {facts.pid1 or 'unknown'}, not systemd",
            "Run against the node itself, not a container on it; nodes without systemd are not supported.",
        )


def _cgroup_mode(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.cgroup.mode is CgroupMode.UNKNOWN and not facts.image:
        yield Refusal(
            "cgroup-mode-unknown",
            f"the cgroup mode cannot be told: {facts.cgroup.reason}",
            "Mount cgroups as the distribution does and reboot; guessing a version would put limits nowhere.",
            file="/proc/self/mountinfo",
        )


def _kubelet_installed(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
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


def _runtime_installed(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if not facts.runtime.installed:
        yield Refusal(
            "containerd-missing",
            "no containerd program was found",
            "Install containerd first; other runtimes are not supported by this release.",
        )


def _runtime_known(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.runtime.name not in ("containerd", None):
        yield Refusal(
            "runtime-unsupported",
            f"kubelet uses {facts.runtime.name} at {facts.runtime.endpoint}",
            "This release changes containerd only; assess tells what the node's own runtime has.",
        )
    for path, template in facts.layout.regenerated.items():
        yield Refusal(
            "config-regenerated",
            f"{facts.layout.name} makes this file anew at each start",
            f"Put the setting into {template}.",
            file=path,
        )


def _services(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.image:
        return
    if facts.kubelet.installed and not facts.kubelet.running and facts.kubelet.unit_state in ("inactive", None):
        yield Refusal(
            "kubelet-not-running",
            "kubelet.service does not run, so the values in force cannot be told",
            "Start it (systemctl start kubelet), or find out who stopped it.",
        )
    if facts.runtime.name == "containerd" and facts.runtime.installed and not facts.runtime.running:
        yield Refusal(
            "containerd-not-answering",
            f"containerd does not answer at {facts.runtime.endpoint}",
            "See journalctl -u containerd; a disabled CRI plugin or a broken config.toml are the usual causes.",
        )


def _file(config: ConfigFile) -> Iterator[Refusal]:
    if config.kind == "symlink":
        yield Refusal(
            "config-is-symlink",
            "is a symbolic link; replacing it would cut the link, following it would change a file of someone else",
            "Name the real file in the service's --config, or replace the link by the file.",
            file=config.path,
        )
    elif config.problem:
        yield Refusal(
            "config-unreadable",
            config.problem.message,
            "Correct the file; it is left as it is.",
            file=config.path,
            line=config.problem.line,
        )


def _kubelet_file(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    yield from _file(facts.kubelet.config)
    if facts.kubelet.installed and facts.kubelet.config.kind == "missing":
        yield Refusal(
            "kubelet-config-missing",
            "kubelet runs without this file",
            "Start kubelet with --config and move its flags there; flags are never added by this collection.",
            file=facts.kubelet.config.path,
        )


def _runtime_file(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    yield from _file(facts.runtime.config)


def _containerd_schema(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    version = facts.runtime.config_version
    if version is not None and version not in EDITABLE:
        yield Refusal(
            "containerd-schema",
            f"its schema version is {version}; this release edits schema {', '.join(map(str, EDITABLE))} only",
            "Migrate the file yourself: the schema of a file is never changed unasked.",
            file=facts.runtime.config.path,
        )
    if facts.runtime.imports:
        yield Refusal(
            "containerd-imports",
            f"imports {', '.join(facts.runtime.imports)}, and an imported file can outrank every value written here",
            "Merge the imported files into the main file; this release edits the main file only.",
            file=facts.runtime.config.path,
        )
    if {"cri", "io.containerd.grpc.v1.cri"} & set(facts.runtime.disabled_plugins):
        yield Refusal(
            "cri-disabled",
            "disabled_plugins switches the CRI plugin off, as Docker's containerd.io package ships it",
            "Remove cri from disabled_plugins and restart containerd.",
            file=facts.runtime.config.path,
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


def _nri(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    skip = nri_skip(facts.runtime, profile)
    if skip and profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade containerd, or set nri.unsupported (colocation_nri_unsupported) to skip.",
            variable="nri.enabled",
        )


KUBELET_RULES: tuple[Rule, ...] = (_kubelet_installed, _kubelet_file, _flags, _reserved_cpus, _static)
RUNTIME_RULES: tuple[Rule, ...] = (_runtime_installed, _runtime_known, _runtime_file, _containerd_schema, _nri)
NODE_RULES: tuple[Rule, ...] = (_pid1, _cgroup_mode, _services, *KUBELET_RULES, *RUNTIME_RULES)


def refusals(facts: NodeFacts, profile: Profile, rules: tuple[Rule, ...] = NODE_RULES) -> tuple[Refusal, ...]:
    """All reasons at once, so that one run tells everything that has to be put right."""
    return tuple(found for rule in rules for found in rule(facts, profile))
