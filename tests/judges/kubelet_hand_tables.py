# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where tables written by hand differ from what kubelet of a release reports about itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_command_line import REMOVED_FLAGS
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import DEFAULT_EVICTION_HARD
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import kubelet_features, kubelet_generated
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_features import (
    CPU_MANAGER,
    TOPOLOGY_MANAGER,
    Manager,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules import memory_manager, memory_qos

Stages = Mapping[str, list[Mapping[str, Any]]]
UNSET: tuple[Any, ...] = (None, "", "0", 0, False, {}, [])
REWRITTEN = frozenset(("TopologyManagerPolicyOptions",))
"""Gates whose history kubelet changed: locked since 1.32 according to 1.36, and not locked in 1.35."""
FILLED_IN = frozenset(("enforceNodeAllocatable", "evictionHard", "containerRuntimeEndpoint"))
"""Fields that kubelet fills in and whose default no rule needs."""


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


def gates(stages: Stages, version: Version) -> Iterator[str]:
    """``kubelet_features.GATES``: the first version and the locking one; a gate that kubelet lacks is in no release."""
    for name, gate in kubelet_features.GATES.items():
        history = stages.get(name)
        if history is None:
            if name in kubelet_generated.GATES[version]:
                yield f"{name} is not a gate of {version}"
            continue
        since = _version(history[0]["since"])
        locked = next((_version(stage["since"]) for stage in history if stage["locked"]), None)
        if gate.since != since:
            yield f"{name} was added in {since}, not in {gate.since}"
        if name in REWRITTEN:
            if history[-1]["locked"] is not (gate.locked is not None and version >= gate.locked):
                yield f"{name} is {'' if history[-1]['locked'] else 'not '}locked in {version}"
        elif gate.locked != locked and not (gate.locked and gate.locked > version and locked is None):
            yield f"{name} is locked since {locked}, and not since {gate.locked}"


def _on_since(stages: Stages, name: str) -> Version | None:
    return next((_version(stage["since"]) for stage in stages.get(name, ()) if stage["default"]), None)


def gate_defaults(stages: Stages, version: Version) -> Iterator[str]:
    """The versions from which a gate is on by default, where rules have them."""
    known = (
        ("MemoryManager", memory_manager.ON_BY_DEFAULT),
        ("MemoryQoS", memory_qos.ON_BY_DEFAULT),
        *((manager.gate, manager.gate_on) for manager in (CPU_MANAGER, TOPOLOGY_MANAGER)),
        *((manager.stage_gate % "Beta", manager.beta_on) for manager in (CPU_MANAGER, TOPOLOGY_MANAGER)),
    )
    for name, expected in known:
        if name not in stages:
            continue
        since_release = _on_since(stages, name)
        if since_release != expected and not (expected > version and since_release is None):
            yield f"{name} is on since {since_release}, and not since {expected}"
    for manager in (CPU_MANAGER, TOPOLOGY_MANAGER):
        if _on_since(stages, manager.stage_gate % "Alpha") is not None:
            yield f"{manager.stage_gate % 'Alpha'} is on by default"


def options(names_by_stage: Mapping[str, Mapping[str, list[str]]], version: Version) -> Iterator[str]:
    """``CPU_OPTIONS`` and ``TOPOLOGY_OPTIONS``: the stage of each option, and that no option is missing."""
    for name, manager in (("cpu", CPU_MANAGER), ("topology", TOPOLOGY_MANAGER)):
        expected = {option: stage for stage, names in names_by_stage[name].items() for option in names}
        actual = dict(_stages(manager, version))
        for option in sorted({*expected, *actual}):
            if expected.get(option) != actual.get(option):
                yield f"{option} is {expected.get(option)}, and not {actual.get(option)}"


def _stages(manager: Manager, version: Version) -> Iterator[tuple[str, str]]:
    for option, history in manager.options.items():
        stage = kubelet_features.stage_in(history, version)
        if stage is not None:
            yield option, stage.lower() or "stable"


def removed_flags(flags: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``REMOVED_FLAGS``: each flag is missing from its version on."""
    for name, (since, _source) in REMOVED_FLAGS.items():
        if (name in flags) is (version >= since):
            yield f"{name} is {'still' if name in flags else 'no longer'} a flag"


def fields(types: Mapping[str, Any], flags: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``OBSERVED``: each field, and its flag, exists from its version on."""
    for field in OBSERVED:
        if (field.key in types["fields"]) is (version < field.since):
            yield f"{field.key} is {'already' if field.key in types['fields'] else 'not yet'} a field"
        if field.flag and version >= field.since and field.flag not in flags:
            yield f"{field.key} has no flag {field.flag}"


def defaults(config: Mapping[str, Any], version: Version) -> Iterator[str]:
    """``KubeletField.default``, compared with the configuration of a file without fields."""
    for field in OBSERVED:
        expected, actual = config.get(field.key), field.default_in(version)
        if _plain(expected) != _plain(actual) and not (actual is None and field.key in FILLED_IN):
            yield f"{field.key} is {expected} by default, and not {actual}"
    if config.get("evictionHard") != DEFAULT_EVICTION_HARD:
        yield f"evictionHard is {config.get('evictionHard')} by default"


def _plain(value: Any) -> str | None:
    if value in UNSET and not isinstance(value, bool):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
