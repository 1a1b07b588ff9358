# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about reservations and resource managers that kubelet checks when it starts."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils.quantity import format_cpu_list
from ...facts.node_allocatable import UnreadableReservation, cpu_reservation, require_reservable
from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import (
    CGROUPS_PER_QOS,
    CPU_MANAGER_OPTIONS,
    CPU_MANAGER_POLICY,
    ENFORCE_NODE_ALLOCATABLE,
    FEATURE_GATES,
    KUBE_RESERVED_CGROUP,
    MEMORY_MANAGER_POLICY,
    MEMORY_RESERVATION_POLICY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED_CGROUP,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICY,
    TOPOLOGY_MANAGER_SCOPE,
)
from ...releases import kubelet_policy_options as history
from ...releases.versions import minor
from ..evidence import claims
from ..kubelet_values import table, value, words
from ..model import Effect, Finding, Rule, Severity

POLICIES = (
    (CPU_MANAGER_POLICY, ("none", "static")),
    (TOPOLOGY_MANAGER_POLICY, ("none", "best-effort", "restricted", "single-numa-node")),
    (TOPOLOGY_MANAGER_SCOPE, ("container", "pod")),
    (MEMORY_MANAGER_POLICY, ("None", "Static")),
    (MEMORY_RESERVATION_POLICY, ("None", "TieredReservation")),
)
MANAGERS = ((CPU_MANAGER_OPTIONS, history.CPU_MANAGER), (TOPOLOGY_MANAGER_OPTIONS, history.TOPOLOGY_MANAGER))
RESERVATIONS = ("systemReserved", "kubeReserved", "reservedSystemCPUs")
LEVELS = ("none", "pods", "system-reserved", "kube-reserved")
COMPRESSIBLE = ("system-reserved-compressible", "kube-reserved-compressible")
COMPRESSIBLE_SINCE = (1, 32)


def refused(code: str, summary: str, evidence: tuple[str, ...], remedy: str) -> Finding:
    """Something over which kubelet exits when it starts the next time."""
    return Finding(code, Severity.ERROR, Effect.LATENT, summary, evidence, remedy)


def policy_unknown(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    for field, known in POLICIES:
        # A kubelet that does not know this one takes no notice of it.
        if field is MEMORY_RESERVATION_POLICY and (version is None or version < field.since):
            continue
        chosen = value(facts, field.key)
        if chosen is not None and str(chosen) not in known:
            yield refused(
                "policy-unknown",
                f"kubelet knows no {field.key} {chosen!s}; it does not start with it.",
                claims(facts, field.key),
                f"Write {' or '.join(known)}; capital letters count.",
            )


def reservation_unreadable(facts: NodeFacts) -> Iterator[Finding]:
    try:
        cpu_reservation(facts.kubelet.settings)
        require_reservable(facts.kubelet.settings)
    except UnreadableReservation as error:
        yield refused(
            "reservation-unreadable",
            "kubelet cannot read a reservation; it does not start with it.",
            (str(error), *claims(facts, *RESERVATIONS)),
            'Write amounts as texts such as "500m", "2" or 1Gi, and CPUs as a list such as 0-1.',
        )


def cpu_reservation_impossible(facts: NodeFacts) -> Iterator[Finding]:
    try:
        found = cpu_reservation(facts.kubelet.settings)
    except UnreadableReservation:
        return
    online, static = facts.online_cpus, facts.kubelet.cpu_manager_policy == "static"
    missing = (found.ids or frozenset()) - online
    if online and missing:
        yield refused(
            "reserved-cpus-offline",
            f"reservedSystemCPUs names CPU {format_cpu_list(missing)}, which is not online; kubelet does not start.",
            (f"online: {format_cpu_list(online)}", *claims(facts, "reservedSystemCPUs")),
            "Reserve online CPUs, or bring these online.",
        )
    elif static and not found.count:
        yield refused(
            "static-without-reservation",
            "The static CPU manager has no CPU reserved for the system; kubelet does not start with it.",
            (*claims(facts, "cpuManagerPolicy"), *claims(facts, *RESERVATIONS)),
            "Reserve CPU in systemReserved or kubeReserved, or name reservedSystemCPUs.",
        )
    elif online and found.count >= len(online):
        yield Finding(
            "reservation-too-large",
            Severity.ERROR,
            Effect.LATENT if static and found.count > len(online) else Effect.MISALIGNED,
            f"{found.count} CPU(s) are reserved of {len(online)} online, which leaves none for pods.",
            claims(facts, *RESERVATIONS),
            "Reserve fewer.",
        )


def reserved_cpus_with_cgroups(facts: NodeFacts) -> Iterator[Finding]:
    cgroups = [each for each in (SYSTEM_RESERVED_CGROUP, KUBE_RESERVED_CGROUP) if value(facts, each.key)]
    if cgroups and value(facts, RESERVED_SYSTEM_CPUS.key):
        yield refused(
            "reserved-cpus-with-cgroups",
            f"kubelet takes reservedSystemCPUs and {' or '.join(each.key for each in cgroups)} not together.",
            claims(facts, "reservedSystemCPUs", *(each.key for each in cgroups)),
            "Keep one of them; systemReserved and kubeReserved go with the cgroups.",
        )


def _levels_known(facts: NodeFacts, levels: tuple[str, ...]) -> Iterator[str]:
    version = minor(facts.kubelet.version)
    for level in levels:
        if level not in (*LEVELS, *COMPRESSIBLE):
            yield f"kubelet knows no {level}"
        elif level in COMPRESSIBLE and version and version < COMPRESSIBLE_SINCE:
            yield f"{level} came with 1.32"


def _allocatable(facts: NodeFacts, levels: tuple[str, ...]) -> Iterator[str]:
    """pkg/kubelet/apis/config/validation/validation.go."""
    yield from _levels_known(facts, levels)
    if "none" in levels and len(levels) > 1:
        yield "none does not go with others"
    for side, field in (("system-reserved", SYSTEM_RESERVED_CGROUP), ("kube-reserved", KUBE_RESERVED_CGROUP)):
        named = [each for each in levels if each in (side, side + "-compressible")]
        if named and not value(facts, field.key):
            yield f"{named[0]} needs {field.key}"
        if len(set(named)) > 1:
            yield f"{side} and {side}-compressible exclude each other"
    if str(value(facts, CGROUPS_PER_QOS.key)).lower() == "false" and set(levels) - {"none"}:
        yield "cgroupsPerQOS is off"


def enforcement_refused(facts: NodeFacts) -> Iterator[Finding]:
    chosen = value(facts, ENFORCE_NODE_ALLOCATABLE.key)
    # Without it, pods (pkg/kubelet/apis/config/v1beta1/defaults.go).
    reasons = tuple(_allocatable(facts, ("pods",) if chosen is None else words(chosen)))
    if reasons:
        yield refused(
            "enforcement-refused",
            "kubelet does not start with this enforceNodeAllocatable.",
            (*reasons, *claims(facts, "enforceNodeAllocatable")),
            "Name the cgroups that the reservations are enforced on, or enforce pods only.",
        )


def manager_options_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    gates = table(facts, FEATURE_GATES.key)
    # A kubelet that does not know the field takes no notice of it.
    known = [each for each in MANAGERS if version is None or version >= each[0].since]
    for field, manager in known:
        options = table(facts, field.key)
        idle = field is TOPOLOGY_MANAGER_OPTIONS and value(facts, TOPOLOGY_MANAGER_POLICY.key) == "none"
        # The topology manager of policy none looks at no option (topologymanager/topology_manager.go NewManager).
        looked_at = history.gate_errors if idle else history.option_errors
        reasons = list(looked_at(manager, options, gates, version)) if options and version else []
        if field is CPU_MANAGER_OPTIONS:
            reasons += history.option_conflicts(options, value(facts, TOPOLOGY_MANAGER_POLICY.key))
            if options and facts.kubelet.cpu_manager_policy == "none":
                reasons.append("cpuManagerPolicy none takes no options")
        if reasons:
            yield refused(
                "manager-options-refused",
                f"kubelet does not start with these {field.key}.",
                (*reasons, *claims(facts, field.key, "featureGates")),
                "Take out what this version does not take, or switch its gate on; drain first, the checkpoint changes.",
            )


RULES: tuple[Rule, ...] = (
    policy_unknown,
    reservation_unreadable,
    cpu_reservation_impossible,
    reserved_cpus_with_cgroups,
    enforcement_refused,
    manager_options_refused,
)
