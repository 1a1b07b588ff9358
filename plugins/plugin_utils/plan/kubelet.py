# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between a kubelet and the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.config import nested
from ..facts.model import KubeletFacts, NodeFacts
from ..kubelet_fields import (
    CGROUP_DRIVER,
    CPU_MANAGER_POLICY,
    KUBE_RESERVED,
    READ_ONLY_PORT,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
    KubeletField,
)
from ..profile import Profile
from ..quantity import parse_cpu_list, parse_quantity
from .model import Change, Need

RESTART = frozenset({Need.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Need.DRAIN}

Desired = tuple[KubeletField, tuple[str, ...], Any]


def desired_fields(profile: Profile) -> Iterator[Desired]:
    """(field, path of keys in KubeletConfiguration, value) for all that the profile sets."""
    if profile.cgroup_driver:
        yield CGROUP_DRIVER, (CGROUP_DRIVER.key,), profile.cgroup_driver.value
    for setting, value in (
        (CPU_MANAGER_POLICY, profile.cpu_manager_policy),
        (TOPOLOGY_MANAGER_POLICY, profile.topology_manager_policy),
        (RESERVED_SYSTEM_CPUS, profile.reserved_system_cpus),
        (READ_ONLY_PORT, profile.read_only_port),
    ):
        if value is not None:
            yield setting, (setting.key,), value
    for setting, reserved in ((SYSTEM_RESERVED, profile.system_reserved), (KUBE_RESERVED, profile.kube_reserved)):
        for resource, amount in reserved.items():
            yield setting, (setting.key, resource), amount


def _same(setting: KubeletField, found: Any, wanted: Any) -> bool:
    """Whether a file's value means the wanted one: quantities and CPU lists have several spellings."""
    # These are strings to kubelet, whose decoder takes no number for one: `cpu: 1` is not `cpu: "1"`.
    try:
        if setting in (SYSTEM_RESERVED, KUBE_RESERVED):
            return isinstance(found, str) and parse_quantity(found) == parse_quantity(wanted)
        if setting is RESERVED_SYSTEM_CPUS:
            return isinstance(found, str) and parse_cpu_list(found) == parse_cpu_list(wanted)
    except ValueError:
        return False
    return type(found) is type(wanted) and bool(found == wanted)


def _needs(setting: KubeletField, facts: KubeletFacts, profile: Profile) -> frozenset[Need]:
    """A driver or policy change needs a drained node; under static so does another reserved set (pitfalls A3, E1)."""
    if setting in (CGROUP_DRIVER, CPU_MANAGER_POLICY):
        return DISRUPTIVE
    static = "static" in (facts.cpu_manager_policy, profile.cpu_manager_policy)
    if static and setting in (RESERVED_SYSTEM_CPUS, SYSTEM_RESERVED, KUBE_RESERVED):
        return DISRUPTIVE
    return RESTART


def _default_in_force(setting: KubeletField, found: Any, wanted: Any) -> bool:
    """An unset field whose default is wanted, where no agent parses the file for it (pitfall I2)."""
    return found is None and str(wanted) == setting.default and setting not in (CGROUP_DRIVER, CPU_MANAGER_POLICY)


def _edits(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    for setting, keys, wanted in desired_fields(profile):
        found = nested(facts.config.values, keys)
        if _same(setting, found, wanted) or _default_in_force(setting, found, wanted):
            continue
        needs = _needs(setting, facts, profile)
        if found is None and str(wanted) == setting.default:
            needs = RESTART
        yield Change(
            "kubelet", ".".join(keys), found, wanted, "differs from the profile", needs, facts.config.path, keys
        )


def _restart_only(facts: KubeletFacts) -> Iterator[Change]:
    """The file is as wanted, and the running kubelet may be older than it: running must equal desired."""
    if facts.running and facts.config.changed_after_start:
        reason = f"{facts.config.path} changed after kubelet started; what runs may differ"
        yield Change("kubelet", "process", "older than its file", "restarted", reason, RESTART)


def _checkpoint_of_another_policy(facts: KubeletFacts, profile: Profile) -> Iterator[Change]:
    """The file is as wanted, and kubelet would not start with the checkpoint that lies there (pitfall E1)."""
    found, wanted = facts.checkpoint, profile.cpu_manager_policy
    if wanted and found.exists and found.policy != wanted:
        state = f"was made under policy {found.policy}" if found.policy else "cannot be read"
        reason = f"{found.path} {state}; kubelet does not start with it under {wanted}"
        yield Change("kubelet", "checkpoint", found.policy, wanted, reason, DISRUPTIVE)


def kubelet_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """Edits of kubelet's file, or what an earlier edit still lacks: the restart, another checkpoint."""
    if not any(True for _each in desired_fields(profile)):
        return ()
    edits = tuple(_edits(facts.kubelet, profile))
    return edits or (*_restart_only(facts.kubelet), *_checkpoint_of_another_policy(facts.kubelet, profile))


def merged_reservation(facts: KubeletFacts, profile: Profile) -> Mapping[str, Any]:
    """The reservation fields kubelet would have: the file's with the profile's on top; ValueError for no mapping."""
    merged: dict[str, Any] = {}
    for setting, wanted in ((SYSTEM_RESERVED, profile.system_reserved), (KUBE_RESERVED, profile.kube_reserved)):
        found = facts.config.values.get(setting.key) or {}
        if not isinstance(found, Mapping):
            raise ValueError(f"{setting.key} is not a mapping of resources to quantities")
        merged[setting.key] = {**found, **wanted}
    merged[RESERVED_SYSTEM_CPUS.key] = profile.reserved_system_cpus or facts.config.values.get(RESERVED_SYSTEM_CPUS.key)
    return merged
