# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the agent's modules: their specifications, and the parsed options of agent_deploy.

A test compares the specifications with the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.safe_text import quote_value
from ..profile.argspec import Spec
from ..profile.validators import ProfileError
from .colocation_schema import PERCENT, ConfigValues, Number, WatermarkSystem, parse_settings
from .features import Feature, Release, parse_release
from .pools import NamedPool, parse_pools
from .rubik_agent import RUBIK_FEATURES

FEATURE_NAMES = [feature.value for feature in Feature]
DEFAULT_FEATURES = ["OverSubscription", "Eviction", "Resources"]
"""The agent's default since 1.14: cmd/agent/app/options/options.go."""

WATERMARKS: Spec = {
    "system": {"type": "str", "choices": [system.value for system in WatermarkSystem]},
    "cpu_high": {"type": "int"},
    "cpu_low": {"type": "int"},
    "memory_high": {"type": "int"},
    "memory_low": {"type": "int"},
}
THROTTLING: Spec = {
    "threshold": {"type": "int"},
    "jitter_limit": {"type": "int"},
    "recover_limit": {"type": "int"},
}
OVERSUBSCRIPTION: Spec = {
    "types": {"type": "list", "elements": "str", "choices": ["cpu", "memory"]},
}
NETWORK: Spec = {
    "online_watermark": {"type": "int"},
    "offline_low": {"type": "int"},
    "offline_high": {"type": "int"},
    "check_interval": {"type": "int"},
}
SETTINGS_OPTIONS: Spec = {
    "watermarks": {"type": "dict", "options": WATERMARKS},
    "throttling": {"type": "dict", "options": THROTTLING},
    "oversubscription": {"type": "dict", "options": OVERSUBSCRIPTION},
    "network": {"type": "dict", "options": NETWORK},
}
"""Settings in the agent's ConfigMap, for all nodes or for a pool."""

CLUSTER_OPTIONS: Spec = {
    "kubeconfig": {"type": "path"},
    "namespace": {"type": "str", "default": "volcano-system"},
    "nodes": {"type": "list", "elements": "str", "required": True},
}

AGENT_DEPLOY: Spec = {
    **CLUSTER_OPTIONS,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "step": {"type": "str", "choices": ["objects", "labels", "values"], "default": "objects"},
    "recheck_seconds": {"type": "int", "default": 0},
    "label_nodes": {"type": "bool", "aliases": ["label"]},
    "smoke_test": {"type": "bool", "default": False, "aliases": ["probe"]},
    "image": {"type": "str", "default": "docker.io/volcanosh/vc-agent:v1.14.0"},
    "version": {"type": "str"},
    "pull_policy": {"type": "str", "choices": ["Always", "IfNotPresent", "Never"], "default": "IfNotPresent"},
    "image_ids": {"type": "list", "elements": "str", "default": []},
    "features": {"type": "list", "elements": "str", "choices": FEATURE_NAMES, "default": DEFAULT_FEATURES},
    **SETTINGS_OPTIONS,
    "oversubscription_ratio": {"type": "int", "default": 60},
    "include_system_usage": {"type": "bool", "default": False},
    "pools": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "nodes": {"type": "list", "elements": "str", "required": True},
            **SETTINGS_OPTIONS,
        },
    },
    "memory_qos": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "selector": {"type": "dict", "required": True},
            "high_ratio": {"type": "int", "default": 100},
            "low_ratio": {"type": "int", "default": 0},
            "min_ratio": {"type": "int", "default": 0},
        },
    },
    "tolerations": {"type": "list", "elements": "dict", "default": [{"operator": "Exists"}]},
    "resources": {
        "type": "dict",
        "default": {"requests": {"cpu": "50m", "memory": "100Mi"}},
    },
    "selinux_type": {"type": "str", "default": "spc_t"},
    "cni_config": {"type": "path", "default": "/etc/cni/net.d/cni.conflist"},
    "port": {"type": "int", "default": 3300},
    "verbosity": {"type": "int", "default": 2},
}

AGENT_ARCHIVE_INFO: Spec = {
    "path": {"type": "path", "required": True},
    "image": {"type": "str", "required": True},
    "digest": {"type": "str"},
}
AGENT_IMAGE: Spec = {
    "image": {"type": "str"},
    "owner": {"type": "str", "choices": ["agent", "volcano"], "default": "agent"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "archive": {"type": "path"},
    "sha256": {"type": "str"},
    "images": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "aliases": ["holds"],
        "options": {
            "architecture": {"type": "str", "required": True},
            "id": {"type": "str", "required": True},
            "digests": {"type": "list", "elements": "str", "default": []},
        },
    },
    "ignore_containers": {"type": "list", "elements": "str", "default": [], "aliases": ["leaving"]},
    "timeout": {"type": "int", "default": 0},
}

RUBIK_CONFIG: Spec = {
    "nodes": CLUSTER_OPTIONS["nodes"],
    "features": {"type": "list", "elements": "str", "choices": RUBIK_FEATURES, "default": ["preemption"]},
}

AGENT_SMOKE_TEST: Spec = {
    **CLUSTER_OPTIONS,
    "state": {"type": "str", "choices": ["present", "updated", "absent"], "default": "present"},
    "timeout": {"type": "int", "default": 0},
}

AGENT_VERIFY: Spec = {
    **CLUSTER_OPTIONS,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "timeout": {"type": "int", "default": 0},
    "oversubscribed": {"type": "bool", "default": True},
}


PORT_RANGE = Number(1024, 65535)
"""The agent does not run as root, so it cannot listen on ports below 1024."""
VERBOSITY_RANGE = Number(0, 10)


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
class DeployOptions:
    namespace: str
    image: str
    release: Release
    pull_policy: str
    image_ids: tuple[str, ...]
    features: tuple[Feature, ...]
    common: ConfigValues
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


def parse_deploy_options(arguments: Mapping[str, Any], groups: Mapping[str, Sequence[str]]) -> DeployOptions:
    """The parsed options; ProfileError with the variable. ``groups``: hosts by the name of their inventory group."""
    if not arguments["image"]:
        raise ProfileError("colocation_agent_image", "it is empty, and the agent needs an image")
    _require_number("colocation_agent_oversubscription_ratio", arguments["oversubscription_ratio"], PERCENT)
    _require_number("colocation_agent_port", arguments["port"], PORT_RANGE)
    _require_number("colocation_agent_verbosity", arguments["verbosity"], VERBOSITY_RANGE)
    entries = arguments["pools"]
    own = [parse_settings(entry, f"colocation_agent_pools, {entry['name']}") for entry in entries]
    return DeployOptions(
        namespace=arguments["namespace"],
        image=arguments["image"],
        release=parse_release(arguments["image"], arguments["version"] or ""),
        pull_policy=arguments["pull_policy"],
        image_ids=tuple(sorted(arguments["image_ids"])),
        features=_features(arguments["features"]),
        common=parse_settings(arguments),
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
    known = {feature.value: feature for feature in Feature}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ProfileError(
            "colocation_agent_features", f"unknown features: {', '.join(unknown)}; allowed are {', '.join(known)}"
        )
    return tuple(feature for name, feature in known.items() if name in names)


def _memory_qos(entries: Sequence[Mapping[str, Any]]) -> tuple[MemoryQos, ...]:
    """The parsed entries; ratios are from 0 to 100: config.volcano.sh_colocationconfigurations.yaml."""
    variable = "colocation_agent_memory_qos"
    parsed: list[MemoryQos] = []
    for entry in entries:
        for name in ("high_ratio", "low_ratio", "min_ratio"):
            _require_number(f"{variable}, {entry['name']}: {name}", entry[name], Number(0, 100))
        memory_qos = MemoryQos(
            entry["name"],
            entry["namespace"],
            entry["selector"],
            entry["high_ratio"],
            entry["low_ratio"],
            entry["min_ratio"],
        )
        if any((other.namespace, other.name) == (memory_qos.namespace, memory_qos.name) for other in parsed):
            raise ProfileError(variable, f"{memory_qos.namespace}/{memory_qos.name} is listed twice")
        parsed.append(memory_qos)
    return tuple(parsed)


def _require_number(variable: str, value: int, kind: Number) -> None:
    problem = kind.problem(value)
    if problem:
        raise ProfileError(variable, f"{quote_value(value)} {problem}")
