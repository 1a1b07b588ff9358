# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of kubelet's checkpoints have to go before it starts with what a plan makes of it."""

from __future__ import annotations

from ..facts.model import Checkpoint, KubeletFacts, NodeFacts
from ..kubelet_field_model import Impact
from ..profile import Profile
from .kubelet_needs import impact_of, may_have, memory_policy
from .model import Need, Plan


def policy_after(facts: NodeFacts, plan: Plan, profile: Profile) -> str | None:
    """The CPU manager's policy once the plan is carried out; None where the profile says nothing."""
    return facts.kubelet.cpu_manager_policy if plan.pending else profile.cpu_manager_policy


def memory_policy_after(kubelet: KubeletFacts, plan: Plan, profile: Profile) -> str | None:
    """The memory manager's policy once the plan is carried out; None where the profile says nothing."""
    return memory_policy(kubelet) if plan.pending else profile.memory_manager_policy


def _has(plan: Plan, impact: Impact) -> bool:
    """Whether a change of the plan has an impact; of a flag that is removed it is not known which entries change."""
    flags = any(change.target == "kubelet flag" and may_have(change.keys[0], impact) for change in plan.changes)
    return flags or any(impact_of(change.keys) is impact for change in plan.changes)


def _of_another_policy(checkpoint: Checkpoint, policy: str | None) -> bool:
    return policy is not None and checkpoint.policy != policy


def _moves_cpu(facts: NodeFacts, plan: Plan, profile: Profile) -> bool:
    checkpoint = facts.kubelet.checkpoint
    return checkpoint.exists and (
        _of_another_policy(checkpoint, policy_after(facts, plan, profile))
        or (
            checkpoint.policy == "static"
            and (_has(plan, Impact.DRAIN_UNDER_STATIC_CPU) or checkpoint.cpus != facts.online_cpus)
        )
    )


def _moves_memory(kubelet: KubeletFacts, plan: Plan, profile: Profile) -> bool:
    checkpoint = kubelet.memory_checkpoint
    return (
        checkpoint is not None
        and checkpoint.exists
        and (
            _of_another_policy(checkpoint, memory_policy_after(kubelet, plan, profile))
            or (checkpoint.policy == "Static" and _has(plan, Impact.DRAIN_UNDER_STATIC_MEMORY))
        )
    )


def moved_checkpoints(facts: NodeFacts, plan: Plan, profile: Profile) -> list[str]:
    """Paths of the checkpoints that were made for another policy, another reserved set, other CPUs or other memory."""
    if Need.RESTART_KUBELET not in plan.needs:
        return []
    kubelet = facts.kubelet
    cpu = [kubelet.checkpoint.path] if _moves_cpu(facts, plan, profile) else []
    memory = kubelet.memory_checkpoint
    return [*cpu, *([memory.path] if memory and _moves_memory(kubelet, plan, profile) else [])]
