# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan is made from: a node, a profile, the fields that it sets, and the node as the profile would leave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..facts.kubelet_layers import DEFAULT_SOURCE, render_value
from ..facts.kubelet_state import KubeletFacts, Setting
from ..facts.node_allocatable import NotComputable, compute_reserved_memory
from ..facts.node_state import Claim, DriverFacts, NodeFacts
from ..facts.runtime_state import RuntimeFacts
from ..profile.kubelet_fields import CPU_MANAGER_POLICY, RESERVED_MEMORY
from ..profile.node_profile import Desired, Profile, desired_fields, with_fields
from ..profile.validators import AUTO
from ..releases.versions import minor
from .change_set import Refusal
from .kubelet_location import ConfigLocation, Layer, Strategy, choose_location, config_layers, merge_layers

SOURCE = "the profile"


def _value_below(settings: Mapping[str, Setting], key: str) -> Any:
    return settings[key].value if key in settings and settings[key].source != DEFAULT_SOURCE else None


def settings_after(settings: Mapping[str, Setting], profile: Profile) -> dict[str, Setting]:
    """The settings in force with the profile's on top. What should be a table and is none stays as it is."""
    after = dict(settings)
    for setting, keys, value in desired_fields(profile):
        below = _value_below(after, setting.key)
        if len(keys) == 1:
            after[setting.key] = Setting(value, SOURCE)
        elif below is None or isinstance(below, Mapping):
            after[setting.key] = Setting({**(below or {}), keys[1]: value}, SOURCE)
    return after


def resolve_profile(facts: NodeFacts, profile: Profile) -> Profile:
    """The profile with reserved_memory computed for this node; unchanged where that cannot be done."""
    if profile.reserved_memory != AUTO:
        return profile
    try:
        entries = compute_reserved_memory(settings_after(facts.kubelet.settings, profile), facts.cpus)
    except NotComputable:
        return profile
    return with_fields(profile, {RESERVED_MEMORY.option: tuple(entries)})


def _claims(profile: Profile) -> tuple[Claim, ...]:
    said: dict[str, list[str]] = {}
    for setting, keys, value in desired_fields(profile):
        said.setdefault(setting.key, []).append(
            render_value(value) if len(keys) == 1 else f"{keys[1]}={render_value(value)}"
        )
    return tuple(Claim(key, ", ".join(values), SOURCE) for key, values in said.items())


def drivers_after(facts: NodeFacts, profile: Profile) -> DriverFacts:
    """The cgroup drivers once both sides have the profile's; without one, as found."""
    return facts.driver.with_both(profile.cgroup_driver)


def node_after(facts: NodeFacts, profile: Profile) -> NodeFacts:
    """The facts of the node once kubelet has the profile's values; whatever else is true stays so."""
    profile = resolve_profile(facts, profile)
    settings = settings_after(facts.kubelet.settings, profile)
    if profile.reserved_memory == AUTO:
        settings.pop(RESERVED_MEMORY.key)
    policy = settings.get(CPU_MANAGER_POLICY.key)
    kubelet: KubeletFacts = replace(
        facts.kubelet,
        settings=settings,
        cpu_manager_policy=render_value(policy.value) if policy else None,
    )
    claims = (*_claims(profile), *facts.claims)
    return replace(facts, kubelet=kubelet, driver=drivers_after(facts, profile), claims=claims)


@dataclass(frozen=True)
class PlanInputs:
    """Each value is computed once, when first asked for. ``profile`` is the node's own: resolve_profile."""

    facts: NodeFacts
    profile: Profile

    @property
    def kubelet(self) -> KubeletFacts:
        return self.facts.kubelet

    @property
    def runtime(self) -> RuntimeFacts:
        return self.facts.runtime

    @cached_property
    def driver_after(self) -> DriverFacts:
        """The cgroup drivers once both sides have the profile's."""
        return drivers_after(self.facts, self.profile)

    @cached_property
    def desired(self) -> tuple[Desired, ...]:
        """What the profile sets of kubelet; nothing where kubelet is none of its business."""
        return tuple(desired_fields(self.profile))

    @cached_property
    def kubelet_location(self) -> ConfigLocation | Refusal:
        """Where kubelet's settings are written, or why nowhere."""
        return choose_location(self.facts, Strategy(self.profile.kubelet_strategy))

    @cached_property
    def kubelet_layers(self) -> tuple[Layer, ...]:
        """kubelet's files, the weakest first."""
        return config_layers(self.kubelet)

    @cached_property
    def kubelet_document(self) -> Mapping[str, Any]:
        """What kubelet makes of its files; flags are another matter."""
        return merge_layers(self.kubelet_layers, minor(self.kubelet.version))
