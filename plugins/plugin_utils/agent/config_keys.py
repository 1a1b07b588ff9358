# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's configuration: its sections, what their values may be, and which option of ours is which of them.

Source: volcano pkg/agent/config/api/types.go and validate.go, pkg/agent/config/utils/utils.go (DefaultCfg).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..profile.validators import ProfileError
from .feature import Feature

Path = tuple[str, ...]
Leaves = Mapping[Path, Any]
"""Values by their path below globalConfig or an entry of nodesConfig."""


@dataclass(frozen=True)
class Number:
    """A whole number; ``most`` is None where upstream sets no upper end."""

    least: int
    most: int | None = None

    def problem(self, value: object) -> str:
        """Why a value is none; empty for one that is."""
        if isinstance(value, bool) or not isinstance(value, int):
            return "is no whole number"
        if value < self.least or (self.most is not None and value > self.most):
            return f"is not from {self.least} to {self.most}" if self.most is not None else f"is less than {self.least}"
        return ""


@dataclass(frozen=True)
class Switch:
    def problem(self, value: object) -> str:
        return "" if isinstance(value, bool) else "is neither true nor false"


@dataclass(frozen=True)
class Types:
    """cpu, memory or both, with a comma and no blank between."""

    def problem(self, value: object) -> str:
        good = isinstance(value, str) and all(each in ("cpu", "memory") for each in value.split(","))
        return "" if good else "is not cpu, memory or cpu,memory"


Value = Number | Switch | Types
ON = {"enable": Switch()}
BANDWIDTH = Number(1, 1000)

SECTIONS: Mapping[str, Mapping[str, Value]] = {
    "cpuQosConfig": ON,
    "cpuBurstConfig": ON,
    "memoryQosConfig": ON,
    "memoryQosV2Config": ON,
    "networkQosConfig": {
        **ON,
        "onlineBandwidthWatermarkPercent": BANDWIDTH,
        "offlineLowBandwidthPercent": BANDWIDTH,
        "offlineHighBandwidthPercent": BANDWIDTH,
        "qosCheckInterval": Number(1),
    },
    "overSubscriptionConfig": {**ON, "overSubscriptionTypes": Types()},
    "evictingConfig": {
        "evictingCPUHighWatermark": Number(1),
        "evictingMemoryHighWatermark": Number(1),
        "evictingCPULowWatermark": Number(1),
        "evictingMemoryLowWatermark": Number(1),
    },
    "cpuThrottlingConfig": {
        **ON,
        "cpuThrottlingThreshold": Number(1, 100),
        "cpuJitterLimitPercent": Number(0),
        "cpuRecoverLimitPercent": Number(1),
    },
}
"""Sections and keys that are not here belong to newer agents or to others, and are left alone."""

DEFAULTS: Leaves = {
    ("evictingConfig", "evictingCPUHighWatermark"): 80,
    ("evictingConfig", "evictingMemoryHighWatermark"): 60,
    ("evictingConfig", "evictingCPULowWatermark"): 30,
    ("evictingConfig", "evictingMemoryLowWatermark"): 30,
    ("networkQosConfig", "offlineLowBandwidthPercent"): 10,
    ("networkQosConfig", "offlineHighBandwidthPercent"): 40,
}
"""What a value that is not set is held against."""

ORDERED: tuple[tuple[Path, Path], ...] = (
    (("evictingConfig", "evictingCPULowWatermark"), ("evictingConfig", "evictingCPUHighWatermark")),
    (("evictingConfig", "evictingMemoryLowWatermark"), ("evictingConfig", "evictingMemoryHighWatermark")),
    (("networkQosConfig", "offlineLowBandwidthPercent"), ("networkQosConfig", "offlineHighBandwidthPercent")),
)
"""The first of two must not be more than the second."""

PERCENT = Number(1, 100)
OPTIONS: Mapping[tuple[str, str], tuple[Path, Value]] = {
    ("watermarks", "cpu_high"): (("evictingConfig", "evictingCPUHighWatermark"), PERCENT),
    ("watermarks", "cpu_low"): (("evictingConfig", "evictingCPULowWatermark"), PERCENT),
    ("watermarks", "memory_high"): (("evictingConfig", "evictingMemoryHighWatermark"), PERCENT),
    ("watermarks", "memory_low"): (("evictingConfig", "evictingMemoryLowWatermark"), PERCENT),
    ("throttling", "threshold"): (("cpuThrottlingConfig", "cpuThrottlingThreshold"), PERCENT),
    ("throttling", "jitter_limit"): (("cpuThrottlingConfig", "cpuJitterLimitPercent"), Number(0, 100)),
    ("throttling", "recover_limit"): (("cpuThrottlingConfig", "cpuRecoverLimitPercent"), PERCENT),
    ("oversubscription", "types"): (("overSubscriptionConfig", "overSubscriptionTypes"), Types()),
    ("network", "online_watermark"): (("networkQosConfig", "onlineBandwidthWatermarkPercent"), BANDWIDTH),
    ("network", "offline_low"): (("networkQosConfig", "offlineLowBandwidthPercent"), BANDWIDTH),
    ("network", "offline_high"): (("networkQosConfig", "offlineHighBandwidthPercent"), BANDWIDTH),
    ("network", "check_interval"): (("networkQosConfig", "qosCheckInterval"), Number(1)),
}
"""Watermarks of ours end at 100 %, where upstream lets 800 pass: no node uses more of itself than all."""

STRICT = ORDERED[:2]
"""Pairs that must differ in our own settings: with both the same the agent evicts and recovers at one point."""

SWITCHES: Mapping[Feature, Path] = {
    Feature.CPU_QOS: ("cpuQosConfig", "enable"),
    Feature.CPU_BURST: ("cpuBurstConfig", "enable"),
    Feature.CPU_THROTTLE: ("cpuThrottlingConfig", "enable"),
    Feature.MEMORY_QOS: ("memoryQosConfig", "enable"),
    Feature.MEMORY_QOS_V2: ("memoryQosV2Config", "enable"),
    Feature.NETWORK_QOS: ("networkQosConfig", "enable"),
    Feature.OVERSUBSCRIPTION: ("overSubscriptionConfig", "enable"),
}
"""A feature works only if the flag names it and the configuration enables it."""


def leaves(arguments: Mapping[str, Any], variable: str = "") -> dict[Path, Any]:
    """What the options set, by path; ProfileError for a value that no agent takes or that is out of order."""
    found: dict[Path, Any] = {}
    for (group, name), (path, kind) in OPTIONS.items():
        given = (arguments.get(group) or {}).get(name)
        if given is None:
            continue
        value = ",".join(dict.fromkeys(given)) if isinstance(given, list) else given
        problem = kind.problem(value)
        if problem:
            raise ProfileError(variable or f"colocation_agent_{group}", f"{name}: {value!r} {problem}")
        found[path] = value
    for low, high in STRICT:
        if low in found and high in found and found[low] >= found[high]:
            raise ProfileError(variable or "colocation_agent_watermarks", reversed_pair(low, high, found))
    return found


def reversed_pair(low: Path, high: Path, values: Leaves) -> str:
    """The message about two values in the wrong order."""
    return f"{low[-1]} {values[low]} has to be less than {high[-1]} {values[high]}"


def switches(features: tuple[Feature, ...]) -> dict[Path, Any]:
    """The switches of a pool: on where its nodes serve the feature and it was asked for, off otherwise."""
    return {path: feature in features for feature, path in SWITCHES.items()}


def flat(document: object, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values of known sections in one part of the configuration, by path."""
    if not isinstance(document, Mapping):
        return
    for section, keys in SECTIONS.items():
        table = document.get(section)
        if isinstance(table, Mapping):
            yield from (((*prefix, section, key), table[key]) for key in keys if table.get(key) is not None)
