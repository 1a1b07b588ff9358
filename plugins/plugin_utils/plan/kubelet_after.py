# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node as the profile would leave its kubelet: rules about what is wrong are asked of it before anything changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from ..facts.kubelet_layers import DEFAULT_SOURCE, shown
from ..facts.kubelet_model import Setting
from ..facts.model import Claim, KubeletFacts, NodeFacts
from ..kubelet_field_model import KubeletField
from ..kubelet_fields import CPU_MANAGER_POLICY, FIELDS, RESERVED_MEMORY
from ..kubelet_options import AUTO
from ..profile import Profile, with_fields
from .reserved_memory import NotComputable, computed

SOURCE = "the profile"

Desired = tuple[KubeletField, tuple[str, ...], Any]


def desired_fields(profile: Profile) -> Iterator[Desired]:
    """(field, path of keys in KubeletConfiguration, value) for all that the profile sets: tables entry by entry."""
    for setting in FIELDS:
        value = profile.kubelet.get(setting.option)
        if isinstance(value, Mapping):
            for name, each in value.items():
                yield setting, (setting.key, name), each
        elif isinstance(value, tuple):
            if value:
                yield setting, (setting.key,), list(value)
        elif value is not None:
            yield setting, (setting.key,), value.value if isinstance(value, Enum) else value


def _below(settings: Mapping[str, Setting], key: str) -> Any:
    return settings[key].value if key in settings and settings[key].source != DEFAULT_SOURCE else None


def settings_after(settings: Mapping[str, Setting], profile: Profile) -> dict[str, Setting]:
    """The settings in force with the profile's on top. What should be a table and is none stays as it is."""
    after = dict(settings)
    for setting, keys, value in desired_fields(profile):
        below = _below(after, setting.key)
        if len(keys) == 1:
            after[setting.key] = Setting(value, SOURCE)
        elif below is None or isinstance(below, Mapping):
            after[setting.key] = Setting({**(below or {}), keys[1]: value}, SOURCE)
    return after


def resolved(facts: NodeFacts, profile: Profile) -> Profile:
    """The profile with reserved_memory computed for this node; unchanged where that cannot be done."""
    if profile.reserved_memory != AUTO:
        return profile
    try:
        entries = computed(settings_after(facts.kubelet.settings, profile), facts.cpus)
    except NotComputable:
        return profile
    return with_fields(profile, {RESERVED_MEMORY.option: tuple(entries)})


def _claims(profile: Profile) -> tuple[Claim, ...]:
    said: dict[str, list[str]] = {}
    for setting, keys, value in desired_fields(profile):
        said.setdefault(setting.key, []).append(shown(value) if len(keys) == 1 else f"{keys[1]}={shown(value)}")
    return tuple(Claim(key, ", ".join(values), SOURCE) for key, values in said.items())


def node_after(facts: NodeFacts, profile: Profile) -> NodeFacts:
    """The facts of the node once kubelet has the profile's values; whatever else is true stays so."""
    profile = resolved(facts, profile)
    settings = settings_after(facts.kubelet.settings, profile)
    if profile.reserved_memory == AUTO:
        settings.pop(RESERVED_MEMORY.key)
    policy = settings.get(CPU_MANAGER_POLICY.key)
    kubelet: KubeletFacts = replace(
        facts.kubelet,
        settings=settings,
        cgroup_driver=profile.cgroup_driver or facts.kubelet.cgroup_driver,
        cpu_manager_policy=shown(policy.value) if policy else None,
    )
    return replace(facts, kubelet=kubelet, claims=(*_claims(profile), *facts.claims))
