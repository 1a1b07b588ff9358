# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tables made by hand differ from what kubelet of a release says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import REMOVED_FLAGS
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import DEFAULT_EVICTION_HARD
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import (
    kubelet_gates,
    kubelet_generated,
    kubelet_policy_options,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_policy_options import (
    CPU_MANAGER,
    TOPOLOGY_MANAGER,
    Manager,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules import memory_manager, memory_qos

Stages = Mapping[str, list[Mapping[str, Any]]]
UNSET: tuple[Any, ...] = (None, "", "0", 0, False, {}, [])
REWRITTEN = frozenset(("TopologyManagerPolicyOptions",))
"""Locked since 1.32 by what 1.36 says, and not locked in 1.35."""
FILLED_IN = frozenset(("enforceNodeAllocatable", "evictionHard", "containerRuntimeEndpoint"))
"""Fields that kubelet fills in and whose default no rule needs."""


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


def gates(stages: Stages, version: Version) -> Iterator[str]:
    """``kubelet_gates.GATES``: the first version and the one that locks; a gate that is gone is in no release."""
    for name, gate in kubelet_gates.GATES.items():
        found = stages.get(name)
        if found is None:
            if name in kubelet_generated.GATES[version]:
                yield f"{name} is not a gate of {version}"
            continue
        since = _version(found[0]["since"])
        locked = next((_version(stage["since"]) for stage in found if stage["locked"]), None)
        if gate.since != since:
            yield f"{name} came with {since}, and not with {gate.since}"
        if name in REWRITTEN:
            if found[-1]["locked"] is not (gate.locked is not None and version >= gate.locked):
                yield f"{name} is {'' if found[-1]['locked'] else 'not '}locked in {version}"
        elif gate.locked != locked and not (gate.locked and gate.locked > version and locked is None):
            yield f"{name} is locked since {locked}, and not since {gate.locked}"


def _on_since(stages: Stages, name: str) -> Version | None:
    return next((_version(stage["since"]) for stage in stages.get(name, ()) if stage["default"]), None)


def gate_defaults(stages: Stages, version: Version) -> Iterator[str]:
    """The versions from which a gate is on, where rules have them."""
    known = (
        ("MemoryManager", memory_manager.ON_BY_DEFAULT),
        ("MemoryQoS", memory_qos.ON_BY_DEFAULT),
        *((manager.gate, manager.gate_on) for manager in (CPU_MANAGER, TOPOLOGY_MANAGER)),
        *((manager.stage_gate % "Beta", manager.beta_on) for manager in (CPU_MANAGER, TOPOLOGY_MANAGER)),
    )
    for name, since in known:
        if name not in stages:
            continue
        found = _on_since(stages, name)
        if found != since and not (since > version and found is None):
            yield f"{name} is on since {found}, and not since {since}"
    for manager in (CPU_MANAGER, TOPOLOGY_MANAGER):
        if _on_since(stages, manager.stage_gate % "Alpha") is not None:
            yield f"{manager.stage_gate % 'Alpha'} is on by default"


def options(found: Mapping[str, Mapping[str, list[str]]], version: Version) -> Iterator[str]:
    """``CPU_OPTIONS`` and ``TOPOLOGY_OPTIONS``: the stage of each option, and that there are no others."""
    for name, manager in (("cpu", CPU_MANAGER), ("topology", TOPOLOGY_MANAGER)):
        theirs = {option: stage for stage, names in found[name].items() for option in names}
        ours = dict(_stages(manager, version))
        for option in sorted({*theirs, *ours}):
            if theirs.get(option) != ours.get(option):
                yield f"{option} is {theirs.get(option)}, and not {ours.get(option)}"


def _stages(manager: Manager, version: Version) -> Iterator[tuple[str, str]]:
    for option, history in manager.options.items():
        stage = kubelet_policy_options.stage_in(history, version)
        if stage is not None:
            yield option, stage.lower() or "stable"


def removed_flags(flags: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``REMOVED_FLAGS``: gone from its version on."""
    for name, (since, _source) in REMOVED_FLAGS.items():
        if (name in flags) is (version >= since):
            yield f"{name} is {'still' if name in flags else 'no longer'} a flag"


def fields(types: Mapping[str, Any], flags: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``OBSERVED``: that each field is there from its version on, and its flag."""
    for field in OBSERVED:
        if (field.key in types["fields"]) is (version < field.since):
            yield f"{field.key} is {'already' if field.key in types['fields'] else 'not yet'} a field"
        if field.flag and version >= field.since and field.flag not in flags:
            yield f"{field.key} has no flag {field.flag}"


def defaults(config: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``KubeletField.default``, against the configuration of a file without fields."""
    for field in OBSERVED:
        theirs, ours = config.get(field.key), field.default_in(version)
        if _plain(theirs) != _plain(ours) and not (ours is None and field.key in FILLED_IN):
            yield f"{field.key} is {theirs} by default, and not {ours}"
    if config.get("evictionHard") != DEFAULT_EVICTION_HARD:
        yield f"evictionHard is {config.get('evictionHard')} by default"


def _plain(value: Any) -> str | None:
    if value in UNSET and not isinstance(value, bool):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
