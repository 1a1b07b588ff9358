# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change of each of kubelet's fields requires: a restart, a drained node, a checkpoint moved aside.

Both checkpoints contain the options that their manager started with: pkg/kubelet/cm/cpumanager/policy_static.go and
pkg/kubelet/cm/memorymanager/policy_static.go, validateState.
"""

from __future__ import annotations

from ..facts.kubelet_state import Checkpoint, KubeletFacts
from ..facts.node_state import NodeFacts
from ..profile.field_schema import FieldImpact
from ..profile.kubelet_fields import MEMORY_MANAGER_POLICY, OBSERVED
from ..profile.node_profile import Profile
from .change_set import Impact, Plan

Keys = tuple[str, ...]

RESTART = frozenset({Impact.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Impact.DRAIN}
_FIELDS = {field.key: field for field in OBSERVED}


def impact_of(keys: Keys) -> FieldImpact:
    """The impact of a change at a path of keys, which is a field or an entry of its table."""
    field = _FIELDS.get(keys[0]) if keys else None
    return field.impact_of(keys[1:]) if field else FieldImpact.RESTART


def may_have_impact(key: str, impact: FieldImpact) -> bool:
    """Whether a change somewhere in a field has this impact."""
    return key in _FIELDS and impact in _FIELDS[key].impacts


def memory_policy(facts: KubeletFacts) -> str | None:
    """The memory manager's effective policy."""
    setting = facts.settings.get(MEMORY_MANAGER_POLICY.key)
    return str(setting.value) if setting else None


def change_impact(keys: Keys, facts: KubeletFacts, profile: Profile) -> frozenset[Impact]:
    """The impact of a changed value at ``keys``."""
    disruptive = {FieldImpact.DRAIN}
    if "static" in (facts.cpu_manager_policy, profile.cpu_manager_policy):
        disruptive.add(FieldImpact.DRAIN_UNDER_STATIC_CPU)
    if "Static" in (memory_policy(facts), profile.memory_manager_policy):
        disruptive.add(FieldImpact.DRAIN_UNDER_STATIC_MEMORY)
    return DISRUPTIVE if impact_of(keys) in disruptive else RESTART


def policy_after(facts: NodeFacts, plan: Plan, profile: Profile) -> str | None:
    """The CPU manager's policy after the plan is applied; None if the profile does not set it."""
    return facts.kubelet.cpu_manager_policy if plan.pending else profile.cpu_manager_policy


def memory_policy_after(kubelet: KubeletFacts, plan: Plan, profile: Profile) -> str | None:
    """The memory manager's policy after the plan is applied; None if the profile does not set it."""
    return memory_policy(kubelet) if plan.pending else profile.memory_manager_policy


def _has_impact(plan: Plan, impact: FieldImpact) -> bool:
    """Whether a change of the plan has an impact; a removed flag may have it, as its changed entries are unknown."""
    flags = any(change.target == "kubelet flag" and may_have_impact(change.keys[0], impact) for change in plan.changes)
    return flags or any(impact_of(change.keys) is impact for change in plan.changes)


def _of_another_policy(checkpoint: Checkpoint, policy: str | None) -> bool:
    return policy is not None and checkpoint.policy != policy


def _moves_cpu(facts: NodeFacts, plan: Plan, profile: Profile) -> bool:
    checkpoint = facts.kubelet.checkpoint
    return checkpoint.exists and (
        _of_another_policy(checkpoint, policy_after(facts, plan, profile))
        or (
            checkpoint.policy == "static"
            and (_has_impact(plan, FieldImpact.DRAIN_UNDER_STATIC_CPU) or checkpoint.cpus != facts.online_cpus)
        )
    )


def _moves_memory(kubelet: KubeletFacts, plan: Plan, profile: Profile) -> bool:
    checkpoint = kubelet.memory_checkpoint
    return (
        checkpoint is not None
        and checkpoint.exists
        and (
            _of_another_policy(checkpoint, memory_policy_after(kubelet, plan, profile))
            or (checkpoint.policy == "Static" and _has_impact(plan, FieldImpact.DRAIN_UNDER_STATIC_MEMORY))
        )
    )


def moved_checkpoints(facts: NodeFacts, plan: Plan, profile: Profile) -> list[str]:
    """Paths of the checkpoints that belong to another policy, reserved set, other CPUs or other memory."""
    if Impact.RESTART_KUBELET not in plan.needs:
        return []
    kubelet = facts.kubelet
    cpu = [kubelet.checkpoint.path] if _moves_cpu(facts, plan, profile) else []
    memory = kubelet.memory_checkpoint
    return [*cpu, *([memory.path] if memory and _moves_memory(kubelet, plan, profile) else [])]
