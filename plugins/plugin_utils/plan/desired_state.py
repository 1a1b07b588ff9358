# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inputs of a plan: a node, a profile, the fields that it sets, and the node after the profile is applied."""

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
    """The effective settings with the profile's values on top. A value that should be a table but is not one stays."""
    after = dict(settings)
    for setting, keys, value in desired_fields(profile):
        below = _value_below(after, setting.key)
        if len(keys) == 1:
            after[setting.key] = Setting(value, SOURCE)
        elif below is None or isinstance(below, Mapping):
            after[setting.key] = Setting({**(below or {}), keys[1]: value}, SOURCE)
    return after


def resolve_profile(facts: NodeFacts, profile: Profile) -> Profile:
    """The profile with reserved_memory computed for this node; unchanged if it cannot be computed."""
    if profile.reserved_memory != AUTO:
        return profile
    try:
        entries = compute_reserved_memory(settings_after(facts.kubelet.settings, profile), facts.cpus)
    except NotComputable:
        return profile
    return with_fields(profile, {RESERVED_MEMORY.option: tuple(entries)})


def _claims(profile: Profile) -> tuple[Claim, ...]:
    entries: dict[str, list[str]] = {}
    for setting, keys, value in desired_fields(profile):
        entries.setdefault(setting.key, []).append(
            render_value(value) if len(keys) == 1 else f"{keys[1]}={render_value(value)}"
        )
    return tuple(Claim(key, ", ".join(values), SOURCE) for key, values in entries.items())


def drivers_after(facts: NodeFacts, profile: Profile) -> DriverFacts:
    """The cgroup drivers after both sides get the profile's; unchanged if the profile sets none."""
    return facts.driver.with_both(profile.cgroup_driver)


def node_after(facts: NodeFacts, profile: Profile) -> NodeFacts:
    """The facts of the node with the profile's values for kubelet; all other facts stay."""
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
    """Each value is computed once, on first use. ``profile`` is resolved for the node (``resolve_profile``)."""

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
        """The cgroup drivers after both sides get the profile's."""
        return drivers_after(self.facts, self.profile)

    @cached_property
    def desired(self) -> tuple[Desired, ...]:
        """The fields of kubelet that the profile sets; empty if it sets none."""
        return tuple(desired_fields(self.profile))

    @cached_property
    def kubelet_location(self) -> ConfigLocation | Refusal:
        """Where kubelet's settings are written, or why they cannot be written."""
        return choose_location(self.facts, Strategy(self.profile.kubelet_strategy))

    @cached_property
    def kubelet_layers(self) -> tuple[Layer, ...]:
        """kubelet's files, the one with the lowest precedence first."""
        return config_layers(self.kubelet)

    @cached_property
    def kubelet_document(self) -> Mapping[str, Any]:
        """The document that kubelet merges from its files, without its flags."""
        return merge_layers(self.kubelet_layers, minor(self.kubelet.version))
