# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent writes for an offline pod of ours, feature by feature, and what such a pod cannot show.

Sources: volcano pkg/agent/events/handlers, pkg/agent/utils/pod/resources.go, pkg/agent/features/feature_gate.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from .feature import Feature, LeftOff
from .labels import ON
from .names import BATCH_CPU, COLOCATION, OVERSUBSCRIPTION
from .seen import LiveNode

BATCH = 200
"""Thousandths of a CPU. Unlike what kubelet makes of the pod's own request, so that the agent's hand shows."""
BURST = 5_000
"""Microseconds, less than every quota that the pod has meanwhile: a burst must not be longer than its quota."""
PERIOD = 100_000
LEVELS = ("container", "pod")

SHOWN_OTHERWISE = {
    Feature.OVERSUBSCRIPTION: f"it writes no cgroup; {BATCH_CPU} of the Node tells of it",
    Feature.EVICTION: "it acts when watermarks are passed",
    Feature.CPU_THROTTLE: "it writes the quota of the BestEffort class, by the node's load",
    Feature.MEMORY_QOS_V2: "it writes for pods that a ColocationConfiguration selects, and none selects this one",
    Feature.NETWORK_QOS: "it marks packets, which is not read",
}


@dataclass(frozen=True)
class Expected:
    """The text of a file of the pod's cgroup or its container's; ``controller`` has its hierarchy on v1."""

    feature: str
    level: str
    controller: str
    file: str
    wanted: str

    def published(self) -> dict[str, str]:
        told = asdict(self)
        return {"value": told.pop("wanted"), **told}


def expected(features: Iterable[Feature], node: LiveNode, *, v2: bool, batch: bool) -> tuple[Expected, ...]:
    """What should stand there once the agent has seen the pod. ``batch``: it asks for BATCH_CPU."""
    off = {each.feature for each in unproven(features, node, batch=batch)}
    return tuple(one for feature in features if feature not in off for one in _values(feature, v2=v2))


def unproven(features: Iterable[Feature], node: LiveNode, *, batch: bool) -> tuple[LeftOff, ...]:
    """The features that the pod cannot show on this Node, each with the reason."""
    return tuple(LeftOff(each, why) for each in features for why in [_why_not(each, node, batch=batch)] if why)


def _why_not(feature: Feature, node: LiveNode, *, batch: bool) -> str:
    if feature in SHOWN_OTHERWISE:
        return SHOWN_OTHERWISE[feature]
    if feature is Feature.RESOURCES:
        return "" if batch else f"the Node has not {BATCH} of {BATCH_CPU}, without which it writes nothing"
    # feature_gate.go Enabled; Resources is on everywhere.
    if ON in (node.labels.get(COLOCATION), node.labels.get(OVERSUBSCRIPTION)):
        return ""
    return f"the Node has no label {COLOCATION}={ON}, so that its agent leaves the feature off"


def _values(feature: Feature, *, v2: bool) -> Iterator[Expected]:
    quota = BATCH * PERIOD // 1000
    if feature is Feature.RESOURCES:
        # milliCPUToWeight, milliCPUToShares, milliCPUToMax.
        weight = ("cpu.weight", BATCH // 10) if v2 else ("cpu.shares", BATCH * 1024 // 1000)
        limit = ("cpu.max", f"{quota} {PERIOD}") if v2 else ("cpu.cfs_quota_us", quota)
        yield from _both(feature, "cpu", weight, limit)
    elif feature is Feature.CPU_BURST:
        yield from _both(feature, "cpu", ("cpu.max.burst" if v2 else "cpu.cfs_burst_us", BURST))
    elif feature is Feature.CPU_QOS:
        # extension/qos.go: BE is -1; UpdatePodCgroup writes the pod's cgroup and those below it.
        yield from _both(feature, "cpu", ("cpu.qos_level", -1))
    elif feature is Feature.MEMORY_QOS:
        yield from _both(feature, "memory", ("memory.qos_level", -1))


def _both(feature: Feature, controller: str, *files: tuple[str, object]) -> Iterator[Expected]:
    for file, value in files:
        for level in LEVELS:
            yield Expected(feature.value, level, controller, file, str(value))
