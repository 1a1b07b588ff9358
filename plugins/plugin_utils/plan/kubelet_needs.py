# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change of each of kubelet's fields takes: a restart, a drained node, a checkpoint moved away.

Both checkpoints hold what their manager was started with: pkg/kubelet/cm/cpumanager/policy_static.go and
pkg/kubelet/cm/memorymanager/policy_static.go, validateState.
"""

from __future__ import annotations

from ..facts.model import KubeletFacts
from ..kubelet_fields import (
    CGROUP_DRIVER,
    CGROUP_ROOT,
    CPU_MANAGER_OPTIONS,
    CPU_MANAGER_POLICY,
    FEATURE_GATES,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
)
from ..kubelet_gates import DRIVER_FROM_CRI
from ..profile import Profile
from .model import Need

Keys = tuple[str, ...]

RESTART = frozenset({Need.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Need.DRAIN}

MOVES_PODS: frozenset[Keys] = frozenset(
    (
        (CGROUP_DRIVER.key,),
        (CGROUP_ROOT.key,),
        (CPU_MANAGER_POLICY.key,),
        (MEMORY_MANAGER_POLICY.key,),
        (FEATURE_GATES.key, DRIVER_FROM_CRI),
    )
)
"""Pods made before would be where nobody looks for them, or hold what the manager gives away again."""
UNDER_STATIC_CPU: frozenset[Keys] = frozenset(
    (
        (RESERVED_SYSTEM_CPUS.key,),
        (CPU_MANAGER_OPTIONS.key,),
        (SYSTEM_RESERVED.key, "cpu"),
        (KUBE_RESERVED.key, "cpu"),
    )
)
UNDER_STATIC_MEMORY: frozenset[Keys] = frozenset(
    ((RESERVED_MEMORY.key,), (SYSTEM_RESERVED.key, "memory"), (KUBE_RESERVED.key, "memory"))
)


def touches(keys: Keys, fields: frozenset[Keys]) -> bool:
    """Whether a change of ``keys`` is one of a field, or of an entry, in ``fields``."""
    return keys in fields or keys[:1] in fields


def memory_policy(facts: KubeletFacts) -> str | None:
    """The memory manager's policy in force."""
    setting = facts.settings.get(MEMORY_MANAGER_POLICY.key)
    return str(setting.value) if setting else None


def needs(keys: Keys, facts: KubeletFacts, profile: Profile) -> frozenset[Need]:
    """What a changed value at ``keys`` takes."""
    static_cpu = "static" in (facts.cpu_manager_policy, profile.cpu_manager_policy)
    static_memory = "Static" in (memory_policy(facts), profile.memory_manager_policy)
    disruptive = (
        touches(keys, MOVES_PODS)
        or (static_cpu and touches(keys, UNDER_STATIC_CPU))
        or (static_memory and touches(keys, UNDER_STATIC_MEMORY))
    )
    return DISRUPTIVE if disruptive else RESTART
