# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change of each of kubelet's fields takes: a restart, a drained node, a checkpoint moved away.

Both checkpoints hold what their manager was started with: pkg/kubelet/cm/cpumanager/policy_static.go and
pkg/kubelet/cm/memorymanager/policy_static.go, validateState.
"""

from __future__ import annotations

from ..facts.model import KubeletFacts
from ..kubelet_field_model import Impact
from ..kubelet_fields import MEMORY_MANAGER_POLICY, OBSERVED
from ..profile import Profile
from .model import Need

Keys = tuple[str, ...]

RESTART = frozenset({Need.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Need.DRAIN}
_FIELDS = {field.key: field for field in OBSERVED}


def impact_of(keys: Keys) -> Impact:
    """The impact of a change at a path of keys, which is a field or an entry of its table."""
    field = _FIELDS.get(keys[0]) if keys else None
    return field.impact_of(keys[1:]) if field else Impact.RESTART


def may_have(key: str, impact: Impact) -> bool:
    """Whether a change somewhere in a field has this impact."""
    return key in _FIELDS and impact in _FIELDS[key].impacts


def memory_policy(facts: KubeletFacts) -> str | None:
    """The memory manager's policy in force."""
    setting = facts.settings.get(MEMORY_MANAGER_POLICY.key)
    return str(setting.value) if setting else None


def needs(keys: Keys, facts: KubeletFacts, profile: Profile) -> frozenset[Need]:
    """What a changed value at ``keys`` takes."""
    disruptive = {Impact.DRAIN}
    if "static" in (facts.cpu_manager_policy, profile.cpu_manager_policy):
        disruptive.add(Impact.DRAIN_UNDER_STATIC_CPU)
    if "Static" in (memory_policy(facts), profile.memory_manager_policy):
        disruptive.add(Impact.DRAIN_UNDER_STATIC_MEMORY)
    return DISRUPTIVE if impact_of(keys) in disruptive else RESTART
