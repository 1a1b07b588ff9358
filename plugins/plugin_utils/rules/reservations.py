# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reserved CPUs and memory, the cgroups that kubelet enforces them on, and cgroupRoot.

kubelet never creates these cgroups, and does not start without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...module_utils.cgroup.kubelet_names import Driver, cgroup_path, reserved_paths
from ...module_utils.errors import ColocationError
from ...module_utils.quantity import format_cpu_list
from ..facts.node_allocatable import UnreadableReservation, cpu_reservation, require_reservable
from ..facts.node_state import CgroupMode, NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import (
    CGROUP_ROOT,
    CGROUPS_PER_QOS,
    ENFORCE_NODE_ALLOCATABLE,
    KUBE_RESERVED_CGROUP,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED_CGROUP,
)
from ..releases.versions import minor
from .evidence import quote_claims, quote_value, text_list, value
from .rule_types import Effect, Finding, Severity, start_failure

RESERVATIONS = ("systemReserved", "kubeReserved", "reservedSystemCPUs")


LEVELS = ("none", "pods", "system-reserved", "kube-reserved")


COMPRESSIBLE = ("system-reserved-compressible", "kube-reserved-compressible")


COMPRESSIBLE_SINCE = (1, 32)


def reservation_unreadable(facts: NodeFacts) -> Iterator[Finding]:
    try:
        cpu_reservation(facts.kubelet.settings)
        require_reservable(facts.kubelet.settings)
    except UnreadableReservation as error:
        yield start_failure(
            "reservation-unreadable",
            "kubelet cannot parse a reservation and does not start with it.",
            (str(error), *quote_claims(facts, *RESERVATIONS)),
            'Write amounts as texts such as "500m", "2" or 1Gi, and CPUs as a list such as 0-1.',
        )


def cpu_reservation_impossible(facts: NodeFacts) -> Iterator[Finding]:
    try:
        reservation = cpu_reservation(facts.kubelet.settings)
    except UnreadableReservation:
        return
    online, static = facts.online_cpus, facts.kubelet.cpu_manager_policy == "static"
    missing = (reservation.ids or frozenset()) - online
    if online and missing:
        yield start_failure(
            "reserved-cpus-offline",
            f"reservedSystemCPUs names CPU {format_cpu_list(missing)}, which is not online; kubelet does not start.",
            (f"online: {format_cpu_list(online)}", *quote_claims(facts, "reservedSystemCPUs")),
            "Reserve online CPUs, or bring these online.",
        )
    elif static and not reservation.count:
        yield start_failure(
            "static-without-reservation",
            "The static CPU manager has no CPU reserved for the system; kubelet does not start with it.",
            (*quote_claims(facts, "cpuManagerPolicy"), *quote_claims(facts, *RESERVATIONS)),
            "Reserve CPU in systemReserved or kubeReserved, or set reservedSystemCPUs.",
        )
    elif online and reservation.count >= len(online):
        yield Finding(
            "reservation-too-large",
            Severity.ERROR,
            Effect.LATENT if static and reservation.count > len(online) else Effect.MISALIGNED,
            f"{reservation.count} CPU(s) are reserved and {len(online)} are online, which leaves none for pods.",
            quote_claims(facts, *RESERVATIONS),
            "Reserve fewer CPUs.",
        )


def reserved_cpus_with_cgroups(facts: NodeFacts) -> Iterator[Finding]:
    cgroups = [field for field in (SYSTEM_RESERVED_CGROUP, KUBE_RESERVED_CGROUP) if value(facts, field.key)]
    if cgroups and value(facts, RESERVED_SYSTEM_CPUS.key):
        yield start_failure(
            "reserved-cpus-with-cgroups",
            f"kubelet does not accept reservedSystemCPUs together with {' or '.join(field.key for field in cgroups)}.",
            quote_claims(facts, "reservedSystemCPUs", *(field.key for field in cgroups)),
            "Keep one of them; with the cgroups use systemReserved and kubeReserved.",
        )


def _unknown_levels(facts: NodeFacts, levels: tuple[str, ...]) -> Iterator[str]:
    version = minor(facts.kubelet.version)
    for level in levels:
        if level not in (*LEVELS, *COMPRESSIBLE):
            yield f"kubelet does not know {level}"
        elif level in COMPRESSIBLE and version and version < COMPRESSIBLE_SINCE:
            yield f"{level} was added in kubelet 1.32"


def _allocatable(facts: NodeFacts, levels: tuple[str, ...]) -> Iterator[str]:
    """pkg/kubelet/apis/config/validation/validation.go."""
    yield from _unknown_levels(facts, levels)
    if "none" in levels and len(levels) > 1:
        yield "none excludes all others"
    for side, field in (("system-reserved", SYSTEM_RESERVED_CGROUP), ("kube-reserved", KUBE_RESERVED_CGROUP)):
        enforced = [level for level in levels if level in (side, side + "-compressible")]
        if enforced and not value(facts, field.key):
            yield f"{enforced[0]} needs {field.key}"
        if len(set(enforced)) > 1:
            yield f"{side} and {side}-compressible exclude each other"
    if str(value(facts, CGROUPS_PER_QOS.key)).lower() == "false" and set(levels) - {"none"}:
        yield "cgroupsPerQOS is off"


def enforcement_refused(facts: NodeFacts) -> Iterator[Finding]:
    chosen = value(facts, ENFORCE_NODE_ALLOCATABLE.key)
    # The default is pods (pkg/kubelet/apis/config/v1beta1/defaults.go).
    reasons = tuple(_allocatable(facts, ("pods",) if chosen is None else text_list(chosen)))
    if reasons:
        yield start_failure(
            "enforcement-refused",
            "kubelet does not start with this enforceNodeAllocatable.",
            (*reasons, *quote_claims(facts, "enforceNodeAllocatable")),
            "Set the cgroups of the enforced reservations, or enforce pods only.",
        )


RESERVED = (("system-reserved", SYSTEM_RESERVED_CGROUP), ("kube-reserved", KUBE_RESERVED_CGROUP))


NEEDED_V1 = ("cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb")
"""kubernetes pkg/kubelet/cm/cgroup_v1_manager_linux.go; hugetlb where it is mounted, systemd's own tree as well."""


NEEDED_V2 = ("cpu", "cpuset", "memory", "hugetlb", "pids")
"""Needed if the root cgroup has them: pkg/kubelet/cm/cgroup_v2_manager_linux.go."""


def _enforced(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Each enforced reservation's field, and the cgroup it names."""
    enforced = {word.removesuffix("-compressible") for word in text_list(value(facts, ENFORCE_NODE_ALLOCATABLE.key))}
    for word, field in RESERVED:
        path = value(facts, field.key)
        if word in enforced and isinstance(path, str) and path:
            yield field.key, path


def required_hierarchies(facts: NodeFacts) -> set[str]:
    """The hierarchies in which kubelet requires the cgroup."""
    if facts.cgroup.mode is CgroupMode.V2:
        return set(facts.cgroup.mountpoints.values())
    return {facts.cgroup.mountpoints[name] for name in NEEDED_V1 if name in facts.cgroup.mountpoints}


def _cgroup_path(name: str, driver: Driver) -> str:
    paths: Sequence[str] = reserved_paths(name)
    return paths[-1] if driver is Driver.SYSTEMD and paths else name.strip("/")


def missing_parts(facts: NodeFacts, path: str) -> tuple[str, ...]:
    """What kubelet requires of a cgroup and is missing; empty if the evidence does not have the path."""
    existing = facts.cgroup.reserved or {}
    if path not in existing:
        return ()
    missing = sorted(required_hierarchies(facts) - set(existing[path]))
    if missing or facts.cgroup.mode is not CgroupMode.V2:
        return tuple(f"{hierarchy}/{path} is missing" for hierarchy in missing)
    needed = {name for name in NEEDED_V2 if name in facts.cgroup.controllers}
    offered = facts.cgroup.reserved_controllers.get(path)
    absent = sorted(needed - set(offered)) if offered is not None else []
    return (f"{path} has no controller {', '.join(absent)}",) if absent else ()


def reserved_cgroup_missing(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.driver.kubelet
    if driver is None:
        return
    for key, name in _enforced(facts):
        reasons = missing_parts(facts, _cgroup_path(name, driver))
        if reasons:
            yield Finding(
                "reserved-cgroup-missing",
                Severity.ERROR,
                Effect.LATENT,
                f"{key} names a cgroup that does not exist in every controller: kubelet will not start again.",
                (quote_value(facts, key), *reasons),
                "Create it as a persistent slice that starts before kubelet.service (Before=, Wants= from kubelet), or"
                " remove the reservation from enforceNodeAllocatable.",
            )


def _cgroup_root_reasons(facts: NodeFacts, root: str, driver: Driver | None) -> Iterator[str]:
    """Why kubelet would not start with this root."""
    if driver is None or not root.strip("/"):
        return
    wrong = [part for part in root.split("/") if part.endswith(".slice")]
    if driver is Driver.SYSTEMD and wrong:
        plain = root.replace(".slice", "")
        yield f"{wrong[0]} would become {wrong[0]}.slice, because the systemd driver adds .slice: write {plain}"
        return
    try:
        path = cgroup_path(root, driver)
    except ColocationError as error:
        yield str(error)
        return
    yield from missing_parts(facts, path)


def refuse_cgroup_root(draft: PlanDraft) -> Iterator[Refusal]:
    """pkg/kubelet/cm/container_manager_linux.go: cgroupRoot is parsed as a path under both drivers, and must exist."""
    driver = draft.driver_after.kubelet
    root = draft.profile.cgroup_root
    if not root or CGROUP_ROOT.means(draft.kubelet.config.values.get(CGROUP_ROOT.key), root):
        return
    reasons = tuple(_cgroup_root_reasons(draft.facts, root, driver))
    if reasons:
        yield Refusal(
            "cgroup-root-refused",
            f"kubelet does not start with cgroupRoot {root}: {'; '.join(reasons)}",
            "Create the cgroup first, as a persistent slice that starts before kubelet.service.",
            variable="cgroup_root",
        )
