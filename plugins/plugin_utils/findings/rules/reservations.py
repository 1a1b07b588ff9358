# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the cgroups that kubelet enforces reservations on: it never makes them, and does not start without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....module_utils.cgroup.kubelet_names import Driver
from ....module_utils.snapshot.cgroup_evidence import reserved_paths
from ...facts.node_state import CgroupMode, NodeFacts
from ...profile.kubelet_fields import ENFORCE_NODE_ALLOCATABLE, KUBE_RESERVED_CGROUP, SYSTEM_RESERVED_CGROUP
from ..kubelet_values import told, value, words
from ..model import Effect, Finding, Rule, Severity

RESERVED = (("system-reserved", SYSTEM_RESERVED_CGROUP), ("kube-reserved", KUBE_RESERVED_CGROUP))
NEEDED_V1 = ("cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb")
"""kubernetes pkg/kubelet/cm/cgroup_v1_manager_linux.go; hugetlb where it is mounted, systemd's own tree as well."""
NEEDED_V2 = ("cpu", "cpuset", "memory", "hugetlb", "pids")
"""Of these what the root has: pkg/kubelet/cm/cgroup_v2_manager_linux.go."""


def _enforced(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Each enforced reservation's field, and the cgroup it names."""
    enforced = {word.removesuffix("-compressible") for word in words(value(facts, ENFORCE_NODE_ALLOCATABLE.key))}
    for word, field in RESERVED:
        named = value(facts, field.key)
        if word in enforced and isinstance(named, str) and named:
            yield field.key, named


def places(facts: NodeFacts) -> set[str]:
    """The hierarchies in which kubelet wants the cgroup."""
    if facts.cgroup.mode is CgroupMode.V2:
        return set(facts.cgroup.mountpoints.values())
    return {facts.cgroup.mountpoints[name] for name in NEEDED_V1 if name in facts.cgroup.mountpoints}


def _path(named: str, driver: Driver) -> str:
    found: Sequence[str] = reserved_paths(named)
    return found[-1] if driver is Driver.SYSTEMD and found else named.strip("/")


def lacking(facts: NodeFacts, path: str) -> tuple[str, ...]:
    """What a cgroup lacks of what kubelet wants of it; nothing where the evidence does not know the path."""
    existing = facts.cgroup.reserved or {}
    if path not in existing:
        return ()
    missing = sorted(places(facts) - set(existing[path]))
    if missing or facts.cgroup.mode is not CgroupMode.V2:
        return tuple(f"{place}/{path} is missing" for place in missing)
    needed = {name for name in NEEDED_V2 if name in facts.cgroup.controllers}
    offered = facts.cgroup.reserved_controllers.get(path)
    absent = sorted(needed - set(offered)) if offered is not None else []
    return (f"{path} has no controller {', '.join(absent)}",) if absent else ()


def reserved_cgroup_missing(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.kubelet.cgroup_driver
    if driver is None:
        return
    for key, named in _enforced(facts):
        reasons = lacking(facts, _path(named, driver))
        if reasons:
            yield Finding(
                "reserved-cgroup-missing",
                Severity.ERROR,
                Effect.LATENT,
                f"{key} names a cgroup that does not exist in every controller: kubelet will not start again.",
                (told(facts, key), *reasons),
                "Make it a persistent slice that is started before kubelet.service (Before=, Wants= from kubelet), or"
                " take the reservation out of enforceNodeAllocatable.",
            )


RULES: tuple[Rule, ...] = (reserved_cgroup_missing,)
