# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the cgroups that kubelet enforces reservations on: it never makes them, and does not start without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....module_utils.snapshot.reserved import candidates
from ...facts.model import CgroupMode, Driver, NodeFacts
from ..kubelet_values import value, words
from ..model import Effect, Finding, Rule, Severity

RESERVED = (
    ("system-reserved", "systemReservedCgroup", "--system-reserved-cgroup"),
    ("kube-reserved", "kubeReservedCgroup", "--kube-reserved-cgroup"),
)
NEEDED_V1 = ("cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb")
"""kubernetes pkg/kubelet/cm/cgroup_v1_manager_linux.go; hugetlb where it is mounted, systemd's own tree as well."""


def _enforced(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Each enforced reservation's field, and the cgroup it names."""
    enforced = {word.removesuffix("-compressible") for word in words(_allocatable(facts))}
    for word, key, flag in RESERVED:
        named = value(facts, key, flag)
        if word in enforced and isinstance(named, str) and named:
            yield key, named


def _allocatable(facts: NodeFacts) -> object:
    return value(facts, "enforceNodeAllocatable", "--enforce-node-allocatable")


def _places(facts: NodeFacts) -> set[str]:
    """The hierarchies in which kubelet wants the cgroup."""
    if facts.cgroup.mode is CgroupMode.V2:
        return set(facts.cgroup.mountpoints.values())
    return {facts.cgroup.mountpoints[name] for name in NEEDED_V1 if name in facts.cgroup.mountpoints}


def _path(named: str, driver: Driver) -> str:
    found: Sequence[str] = candidates(named)
    return found[-1] if driver is Driver.SYSTEMD and found else named.strip("/")


def reserved_cgroup_missing(facts: NodeFacts) -> Iterator[Finding]:
    existing, driver = facts.cgroup.reserved, facts.kubelet.cgroup_driver
    if existing is None or driver is None:
        return
    for key, named in _enforced(facts):
        path = _path(named, driver)
        lacking = sorted(_places(facts) - set(existing.get(path, ()))) if path in existing else []
        if lacking:
            yield Finding(
                "reserved-cgroup-missing",
                Severity.ERROR,
                Effect.LATENT,
                f"{key} names a cgroup that does not exist: kubelet will not start again.",
                (f"{key} = {named}", *(f"{place}/{path} is missing" for place in lacking)),
                "Make it a persistent slice that is started before kubelet.service (Before=, Wants= from kubelet), or"
                " take the reservation out of enforceNodeAllocatable.",
            )


RULES: tuple[Rule, ...] = (reserved_cgroup_missing,)
