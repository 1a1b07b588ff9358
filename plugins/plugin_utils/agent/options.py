# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of agent_deploy as one value, checked once: what no node and no cluster can have is refused here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..profile.validators import ProfileError
from .config_keys import PERCENT, Leaves, Number, leaves
from .feature import Feature
from .pools import NamedPool, parse_pools
from .release import Release, release_of

PORT = Number(1024, 65535)
"""The agent runs as a user of its own, who may not listen below 1024."""
VERBOSITY = Number(0, 10)


@dataclass(frozen=True)
class MemoryQos:
    """A ColocationConfiguration: ratios in percent of a container's limit (high) or request (low, min)."""

    name: str
    namespace: str
    selector: Mapping[str, Any]
    high: int
    low: int
    least: int


@dataclass(frozen=True)
class Options:
    namespace: str
    image: str
    release: Release
    pull_policy: str
    features: tuple[Feature, ...]
    common: Leaves
    pools: tuple[NamedPool, ...]
    ratio: int
    include_system_usage: bool
    memory_qos: tuple[MemoryQos, ...]
    tolerations: tuple[Mapping[str, Any], ...]
    resources: Mapping[str, Any]
    selinux_type: str
    cni_config: str
    port: int
    verbosity: int


def parse_options(arguments: Mapping[str, Any], groups: Mapping[str, Sequence[str]]) -> Options:
    """Options; ProfileError names the variable. ``groups`` are those of the inventory with their hosts."""
    if not arguments["image"]:
        raise ProfileError("colocation_agent_image", "there is no agent without an image")
    _number("colocation_agent_oversubscription_ratio", arguments["oversubscription_ratio"], PERCENT)
    _number("colocation_agent_port", arguments["port"], PORT)
    _number("colocation_agent_verbosity", arguments["verbosity"], VERBOSITY)
    entries = arguments["pools"]
    own = [leaves(entry, f"colocation_agent_pools, {entry['name']}") for entry in entries]
    return Options(
        namespace=arguments["namespace"],
        image=arguments["image"],
        release=release_of(arguments["image"], arguments["version"] or ""),
        pull_policy=arguments["pull_policy"],
        features=_features(arguments["features"]),
        common=leaves(arguments),
        pools=parse_pools(entries, own, groups),
        ratio=arguments["oversubscription_ratio"],
        include_system_usage=arguments["include_system_usage"],
        memory_qos=_memory_qos(arguments["memory_qos"]),
        tolerations=tuple(arguments["tolerations"]),
        resources=arguments["resources"],
        selinux_type=arguments["selinux_type"],
        cni_config=arguments["cni_config"],
        port=arguments["port"],
        verbosity=arguments["verbosity"],
    )


def _features(names: Sequence[str]) -> tuple[Feature, ...]:
    known = {each.value: each for each in Feature}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ProfileError("colocation_agent_features", f"no agent has {', '.join(unknown)}; it has {', '.join(known)}")
    return tuple(each for name, each in known.items() if name in names)


def _memory_qos(entries: Sequence[Mapping[str, Any]]) -> tuple[MemoryQos, ...]:
    """config.volcano.sh_colocationconfigurations.yaml: each ratio is from 0 to 100."""
    variable = "colocation_agent_memory_qos"
    found: list[MemoryQos] = []
    for entry in entries:
        for name in ("high_ratio", "low_ratio", "min_ratio"):
            _number(f"{variable}, {entry['name']}: {name}", entry[name], Number(0, 100))
        one = MemoryQos(
            entry["name"],
            entry["namespace"],
            entry["selector"],
            entry["high_ratio"],
            entry["low_ratio"],
            entry["min_ratio"],
        )
        if any((each.namespace, each.name) == (one.namespace, one.name) for each in found):
            raise ProfileError(variable, f"{one.namespace}/{one.name} stands there twice")
        found.append(one)
    return tuple(found)


def _number(variable: str, value: int, kind: Number) -> None:
    problem = kind.problem(value)
    if problem:
        raise ProfileError(variable, f"{value!r} {problem}")
