# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's configuration: sections, allowed values, options that set them, and validation of a document.

The agent ignores a new configuration with a mistake: it keeps the previous one, and logs an error. Source: volcano
pkg/agent/config/api/types.go and validate.go, pkg/agent/config/utils/utils.go (DefaultCfg, MergerCfg).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...module_utils.safe_text import quote_value
from ..profile.validators import ProfileError
from .features import Feature

ConfigPath = tuple[str, ...]
ConfigValues = Mapping[ConfigPath, Any]
"""Values by path below globalConfig or an entry of nodesConfig."""


@dataclass(frozen=True)
class Number:
    """A whole number; ``most`` is None if upstream has no maximum."""

    least: int
    most: int | None = None

    def problem(self, value: object) -> str:
        """Why a value is not allowed; empty if it is allowed."""
        if isinstance(value, bool) or not isinstance(value, int):
            return "is not a whole number"
        if value < self.least or (self.most is not None and value > self.most):
            return f"is not from {self.least} to {self.most}" if self.most is not None else f"is less than {self.least}"
        return ""


@dataclass(frozen=True)
class Switch:
    def problem(self, value: object) -> str:
        return "" if isinstance(value, bool) else "is neither true nor false"


@dataclass(frozen=True)
class ResourceTypes:
    """cpu, memory or both, separated by a comma without a space."""

    def problem(self, value: object) -> str:
        valid = isinstance(value, str) and all(name in ("cpu", "memory") for name in value.split(","))
        return "" if valid else "is not cpu, memory or cpu,memory"


Value = Number | Switch | ResourceTypes
ENABLE_SWITCH = {"enable": Switch()}
BANDWIDTH = Number(1, 1000)

SECTIONS: Mapping[str, Mapping[str, Value]] = {
    "cpuQosConfig": ENABLE_SWITCH,
    "cpuBurstConfig": ENABLE_SWITCH,
    "memoryQosConfig": ENABLE_SWITCH,
    "memoryQosV2Config": ENABLE_SWITCH,
    "networkQosConfig": {
        **ENABLE_SWITCH,
        "onlineBandwidthWatermarkPercent": BANDWIDTH,
        "offlineLowBandwidthPercent": BANDWIDTH,
        "offlineHighBandwidthPercent": BANDWIDTH,
        "qosCheckInterval": Number(1),
    },
    "overSubscriptionConfig": {**ENABLE_SWITCH, "overSubscriptionTypes": ResourceTypes()},
    "evictingConfig": {
        "evictingCPUHighWatermark": Number(1),
        "evictingMemoryHighWatermark": Number(1),
        "evictingCPULowWatermark": Number(1),
        "evictingMemoryLowWatermark": Number(1),
    },
    "cpuThrottlingConfig": {
        **ENABLE_SWITCH,
        "cpuThrottlingThreshold": Number(1, 100),
        "cpuJitterLimitPercent": Number(0),
        "cpuRecoverLimitPercent": Number(1),
    },
}
"""Sections and keys that are not listed belong to newer agents or other programs, and are not changed."""

DEFAULTS: ConfigValues = {
    ("evictingConfig", "evictingCPUHighWatermark"): 80,
    ("evictingConfig", "evictingMemoryHighWatermark"): 60,
    ("evictingConfig", "evictingCPULowWatermark"): 30,
    ("evictingConfig", "evictingMemoryLowWatermark"): 30,
    ("networkQosConfig", "offlineLowBandwidthPercent"): 10,
    ("networkQosConfig", "offlineHighBandwidthPercent"): 40,
}
"""The agent's defaults, for comparisons with values that are not set."""

DEFAULT_OVERSUBSCRIPTION: ConfigValues = {
    ("overSubscriptionConfig", "enable"): True,
    ("overSubscriptionConfig", "overSubscriptionTypes"): "cpu,memory",
}
ADDED_SECTIONS = ("overSubscriptionConfig", "evictingConfig")
"""Sections of globalConfig that an agent adds at its start if they are missing."""

ORDERED: tuple[tuple[ConfigPath, ConfigPath], ...] = (
    (("evictingConfig", "evictingCPULowWatermark"), ("evictingConfig", "evictingCPUHighWatermark")),
    (("evictingConfig", "evictingMemoryLowWatermark"), ("evictingConfig", "evictingMemoryHighWatermark")),
    (("networkQosConfig", "offlineLowBandwidthPercent"), ("networkQosConfig", "offlineHighBandwidthPercent")),
)
"""Pairs whose first value must not be greater than the second."""

PERCENT = Number(1, 100)
OPTIONS: Mapping[tuple[str, str], tuple[ConfigPath, Value]] = {
    ("watermarks", "cpu_high"): (("evictingConfig", "evictingCPUHighWatermark"), PERCENT),
    ("watermarks", "cpu_low"): (("evictingConfig", "evictingCPULowWatermark"), PERCENT),
    ("watermarks", "memory_high"): (("evictingConfig", "evictingMemoryHighWatermark"), PERCENT),
    ("watermarks", "memory_low"): (("evictingConfig", "evictingMemoryLowWatermark"), PERCENT),
    ("throttling", "threshold"): (("cpuThrottlingConfig", "cpuThrottlingThreshold"), PERCENT),
    ("throttling", "jitter_limit"): (("cpuThrottlingConfig", "cpuJitterLimitPercent"), Number(0, 100)),
    ("throttling", "recover_limit"): (("cpuThrottlingConfig", "cpuRecoverLimitPercent"), PERCENT),
    ("oversubscription", "types"): (("overSubscriptionConfig", "overSubscriptionTypes"), ResourceTypes()),
    ("network", "online_watermark"): (("networkQosConfig", "onlineBandwidthWatermarkPercent"), BANDWIDTH),
    ("network", "offline_low"): (("networkQosConfig", "offlineLowBandwidthPercent"), BANDWIDTH),
    ("network", "offline_high"): (("networkQosConfig", "offlineHighBandwidthPercent"), BANDWIDTH),
    ("network", "check_interval"): (("networkQosConfig", "qosCheckInterval"), Number(1)),
}
"""The collection allows watermarks up to 100 %, since usage cannot be higher; upstream also accepts 800."""


class WatermarkSystem(str, Enum):
    """The system whose ranges and defaults the watermarks have."""

    VOLCANO = "volcano"
    OPENFUYAO = "openfuyao"


OPENFUYAO_RANGE, OPENFUYAO_DEFAULT = Number(0, 99), 60
"""openFuyao has one watermark for each resource, which usage has to exceed."""

STRICTLY_ORDERED = ORDERED[:2]
"""Pairs that must differ in managed settings: with equal values, the agent evicts and recovers at the same usage."""

FEATURE_SWITCHES: Mapping[Feature, ConfigPath] = {
    Feature.CPU_QOS: ("cpuQosConfig", "enable"),
    Feature.CPU_BURST: ("cpuBurstConfig", "enable"),
    Feature.CPU_THROTTLE: ("cpuThrottlingConfig", "enable"),
    Feature.MEMORY_QOS: ("memoryQosConfig", "enable"),
    Feature.MEMORY_QOS_V2: ("memoryQosV2Config", "enable"),
    Feature.NETWORK_QOS: ("networkQosConfig", "enable"),
    Feature.OVERSUBSCRIPTION: ("overSubscriptionConfig", "enable"),
}
"""A feature works only if the flag names it and the configuration enables it."""


def parse_settings(arguments: Mapping[str, Any], variable: str = "") -> dict[ConfigPath, Any]:
    """The values of the options; ProfileError for a value that the agent refuses, or a pair in the wrong order."""
    settings: dict[ConfigPath, Any] = {}
    watermarks = _watermarks(arguments.get("watermarks") or {}, variable or "colocation_agent_watermarks")
    for (group, name), (path, kind) in OPTIONS.items():
        raw = (watermarks if group == "watermarks" else arguments.get(group) or {}).get(name)
        if raw is None:
            continue
        value = ",".join(dict.fromkeys(raw)) if isinstance(raw, list) else raw
        problem = kind.problem(value)
        if problem:
            raise ProfileError(variable or f"colocation_agent_{group}", f"{name}: {quote_value(value)} {problem}")
        settings[path] = value
    for low, high in STRICTLY_ORDERED:
        if low in settings and high in settings and settings[low] >= settings[high]:
            raise ProfileError(variable or "colocation_agent_watermarks", order_error(low, high, settings))
    return settings


def _watermarks(options: Mapping[str, Any], variable: str) -> Mapping[str, Any]:
    """Volcano's watermarks. It evicts from the high one on, and accepts pods again up to the low one.

    Usage is in whole percent, and Volcano has no watermark of 0: 0 and 1 mean the same.
    """
    if options.get("system") != WatermarkSystem.OPENFUYAO.value:
        return options
    watermarks: dict[str, int] = {}
    for resource in ("cpu", "memory"):
        if options.get(f"{resource}_low") is not None:
            raise ProfileError(variable, f"{resource}_low is set, and openFuyao has no low watermarks; do not set it")
        high = options.get(f"{resource}_high")
        value = OPENFUYAO_DEFAULT if high is None else high
        problem = OPENFUYAO_RANGE.problem(value)
        if problem:
            raise ProfileError(variable, f"{resource}_high: {quote_value(value)} {problem}")
        watermarks[f"{resource}_low"] = max(value, 1)
        watermarks[f"{resource}_high"] = max(value, 1) + 1
    return watermarks


def order_error(low: ConfigPath, high: ConfigPath, values: ConfigValues) -> str:
    """The error message for two values in the wrong order."""
    return f"{low[-1]} {values[low]} has to be less than {high[-1]} {values[high]}"


def feature_switches(features: tuple[Feature, ...]) -> dict[ConfigPath, Any]:
    """The enable settings of a pool with these features: True for them, False for the others."""
    return {path: feature in features for feature, path in FEATURE_SWITCHES.items()}


def flatten(document: object, prefix: ConfigPath = ()) -> Iterator[tuple[ConfigPath, Any]]:
    """The values of known sections in one part of the configuration, by path."""
    if not isinstance(document, Mapping):
        return
    for section, keys in SECTIONS.items():
        table = document.get(section)
        if isinstance(table, Mapping):
            yield from (((*prefix, section, key), table[key]) for key in keys if table.get(key) is not None)


GLOBAL_CONFIG, NODE_CONFIGS = "globalConfig", "nodesConfig"


def find_problems(document: Mapping[str, Any]) -> tuple[str, ...]:
    """All mistakes in a document, with their paths."""
    type_problems = tuple(_type_problems(document))
    if type_problems:
        return type_problems
    base = dict(flatten(document.get(GLOBAL_CONFIG)))
    problems = list(_value_problems(document.get(GLOBAL_CONFIG), GLOBAL_CONFIG))
    problems += _order_problems({**DEFAULTS, **base}, GLOBAL_CONFIG)
    for index, entry in enumerate(document.get(NODE_CONFIGS) or ()):
        location = f"{NODE_CONFIGS}[{index}]"
        problems += _value_problems(entry, location)
        problems += _order_problems({**DEFAULTS, **base, **dict(flatten(entry))}, location)
    return tuple(dict.fromkeys(problems))


def _type_problems(document: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(document.get(GLOBAL_CONFIG, {}), Mapping):
        yield f"{GLOBAL_CONFIG} is not an object"
    entries = document.get(NODE_CONFIGS)
    if entries is not None and not isinstance(entries, list):
        yield f"{NODE_CONFIGS} is not a list"
        return
    for index, entry in enumerate(entries or ()):
        if not isinstance(entry, Mapping):
            yield f"{NODE_CONFIGS}[{index}] is not an object"
        elif not isinstance(entry.get("selector", {}), Mapping):
            yield f"{NODE_CONFIGS}[{index}].selector is not an object"


def _value_problems(part: object, location: str) -> Iterator[str]:
    if not isinstance(part, Mapping):
        return
    for section in SECTIONS:
        table = part.get(section)
        if table is not None and not isinstance(table, Mapping):
            yield f"{location}.{section} is not an object"
    for path, value in flatten(part):
        problem = SECTIONS[path[0]][path[1]].problem(value)
        if problem:
            yield f"{location}.{'.'.join(path)}: {quote_value(value)} {problem}"


def _order_problems(values: Mapping[ConfigPath, Any], location: str) -> Iterator[str]:
    for low, high in ORDERED:
        pair = values.get(low), values.get(high)
        if not all(isinstance(value, int) for value in pair):
            continue
        if values[low] > values[high] or ((low, high) in STRICTLY_ORDERED and values[low] == values[high]):
            yield f"{location}: {order_error(low, high, values)}"


def selector_matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Like metav1.LabelSelectorAsSelector: an empty selector matches all labels, an unknown operator none."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets_expression(expression, labels) for expression in selector.get("matchExpressions") or ())


def _meets_expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    results = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return results.get(expression.get("operator", ""), False)


def shadowed_nodes(
    document: Mapping[str, Any], is_managed: Sequence[bool], nodes: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """Entries of other clients that match Nodes with a managed entry: the agent uses only the last matching entry.

    ``is_managed``: by index of the entry. ``nodes``: future labels by the Node's name.
    """
    shadows = []
    for index, entry in enumerate(document.get(NODE_CONFIGS) or ()):
        if is_managed[index]:
            continue
        matches = [name for name, labels in nodes.items() if selector_matches(entry.get("selector") or {}, labels)]
        if matches:
            shadows.append(f"{NODE_CONFIGS}[{index}] matches {', '.join(sorted(matches))}")
    return tuple(shadows)
