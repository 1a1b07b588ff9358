# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's MemoryQoS, which writes memory.high, memory.min and memory.low itself. KEP-2570."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.kubelet_layers import DEFAULT_SOURCE
from ..facts.node_state import CgroupMode, NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import FEATURE_GATES, MEMORY_RESERVATION_POLICY, MEMORY_THROTTLING_FACTOR
from ..releases.kubelet_features import MEMORY_QOS
from ..releases.versions import format_version, minor
from .evidence import is_true, quote_claims, quote_writers
from .rule_types import Effect, Finding, Severity, start_failure

GATE = "MemoryQoS"


ON_BY_DEFAULT = (1, 37)
"""From this release on kubelet sets memory.high only with memoryThrottlingFactor, whose default was 0.9 before."""


RESERVES_BY_POLICY = (1, 36)
"""From this release on kubelet sets memory.min and memory.low only with memoryReservationPolicy: TieredReservation."""


PREVIOUS_DEFAULT = 0.9


TIERED = "TieredReservation"


SAFE_KERNEL = (5, 9)
"""Older kernels may throttle a pod at memory.high without end, KEP-2570."""


MEMORY_AGENTS = ("koordlet", "volcano-agent")
"""koordinator pkg/koordlet/qosmanager/plugins/cgreconcile; volcano pkg/agent/events/handlers/memoryqosv2."""


def chosen_gate(facts: NodeFacts) -> bool | None:
    """The gate in files and flags; None if they do not set it."""
    setting = facts.kubelet.settings.get(FEATURE_GATES.key)
    gates = setting.value if setting and isinstance(setting.value, dict) else {}
    return is_true(gates[GATE]) if GATE in gates else None


def throttles(facts: NodeFacts, version: tuple[int, int]) -> bool:
    """Whether this version writes memory.high once its gate is on."""
    factor = facts.kubelet.settings.get(MEMORY_THROTTLING_FACTOR.key)
    return version < ON_BY_DEFAULT or (factor is not None and factor.source != DEFAULT_SOURCE)


def reserves(facts: NodeFacts, version: tuple[int, int]) -> bool:
    """Whether this version writes memory.min once its gate is on."""
    policy = facts.kubelet.settings.get(MEMORY_RESERVATION_POLICY.key)
    return version < RESERVES_BY_POLICY or (policy is not None and policy.value == TIERED)


def switched_off(facts: NodeFacts, version: tuple[int, int] | None) -> str:
    """The settings that disable MemoryQoS in this version: with the policy and without the gate it would not start."""
    gate = f"the gate {GATE}: false"
    if version is None or version < RESERVES_BY_POLICY or not reserves(facts, version):
        return gate
    return f"{gate} and memoryReservationPolicy: None"


def _on(facts: NodeFacts, version: tuple[int, int]) -> bool:
    chosen = chosen_gate(facts)
    return version >= ON_BY_DEFAULT if chosen is None else chosen


def _written(facts: NodeFacts) -> tuple[str, ...]:
    """The files that kubelet writes on this node today."""
    version = minor(facts.kubelet.version)
    if version is None or facts.cgroup.mode is not CgroupMode.V2 or not _on(facts, version):
        return ()
    high = ("memory.high",) if throttles(facts, version) else ()
    return high + (("memory.min",) if reserves(facts, version) else ())


def _quote_settings(facts: NodeFacts) -> tuple[str, ...]:
    keys = (FEATURE_GATES.key, MEMORY_THROTTLING_FACTOR.key, MEMORY_RESERVATION_POLICY.key)
    return quote_claims(facts, *keys) or (f"{GATE} is on by default",)


def memory_qos_stalls_pods(facts: NodeFacts) -> Iterator[Finding]:
    kernel = minor(facts.kernel)
    if "memory.high" in _written(facts) and kernel is not None and kernel < SAFE_KERNEL:
        yield Finding(
            "memory-qos-stalls-pods",
            Severity.WARNING,
            Effect.NONE,
            "kubelet sets memory.high, and this kernel may stall a pod that reaches it.",
            (f"kernel {facts.kernel}, required is 5.9", *_quote_settings(facts)),
            f"Set {switched_off(facts, minor(facts.kubelet.version))}, or boot Linux 5.9 or newer.",
        )


def memory_qos_agent_conflict(facts: NodeFacts) -> Iterator[Finding]:
    agents = quote_writers(facts, *MEMORY_AGENTS)
    written = _written(facts)
    if agents and written:
        yield Finding(
            "memory-qos-agent-conflict",
            Severity.WARNING,
            Effect.NONE,
            f"kubelet sets {' and '.join(written)} of pods, and an agent on this node may set the same.",
            (*agents, *_quote_settings(facts)),
            "Disable one of them: memory QoS in the agent's configuration, or kubelet's with"
            f" {switched_off(facts, minor(facts.kubelet.version))}.",
        )


def memory_qos_needs_v2(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.mode in (CgroupMode.V1, CgroupMode.HYBRID) and chosen_gate(facts):
        yield Finding(
            "memory-qos-needs-v2",
            Severity.INFO,
            Effect.NONE,
            f"The gate {GATE} is on, and has no effect on cgroup v1.",
            (facts.cgroup.reason, *quote_claims(facts, FEATURE_GATES.key)),
            "Boot the node with cgroup v2 if you need the gate.",
        )


def memory_reservation_refused(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/apis/config/validation/validation.go; kubelet before 1.36 ignores the field."""
    version = minor(facts.kubelet.version)
    if version is None or version < RESERVES_BY_POLICY or not reserves(facts, version) or _on(facts, version):
        return
    gate = quote_claims(facts, FEATURE_GATES.key) or (f"{GATE} is off by default before 1.37",)
    yield start_failure(
        "memory-reservation-refused",
        f"memoryReservationPolicy {TIERED} needs the gate {GATE}; kubelet does not start without it.",
        (*quote_claims(facts, MEMORY_RESERVATION_POLICY.key), *gate),
        f"Set the gate {GATE}: true, or memoryReservationPolicy: None.",
    )


def memory_throttling_refused(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/apis/config/validation/validation.go: 0.9, the previous default, needs no gate."""
    version = minor(facts.kubelet.version)
    factor = facts.kubelet.settings.get(MEMORY_THROTTLING_FACTOR.key)
    if version is None or version < ON_BY_DEFAULT or factor is None or _on(facts, version):
        return
    if factor.value != PREVIOUS_DEFAULT:
        yield start_failure(
            "memory-throttling-refused",
            f"memoryThrottlingFactor needs the gate {GATE}; kubelet does not start without it.",
            quote_claims(facts, MEMORY_THROTTLING_FACTOR.key, FEATURE_GATES.key),
            f"Set the gate {GATE}: true, or delete memoryThrottlingFactor.",
        )


def refuse_memory_qos(draft: PlanDraft) -> Iterator[Refusal]:
    """pkg/kubelet/cm/qos_container_manager_linux.go: the gate has no effect on v1."""
    if not draft.profile.feature_gates.get(MEMORY_QOS):
        return
    if draft.facts.cgroup.mode in (CgroupMode.V1, CgroupMode.HYBRID):
        yield Refusal(
            "memory-qos-on-v1",
            f"the gate {MEMORY_QOS} has no effect on cgroup v1, in any version of kubelet: {draft.facts.cgroup.reason}",
            "Boot the node with cgroup v2, or remove the gate for this node.",
            variable="feature_gates",
        )
    kernel = minor(draft.facts.kernel)
    if kernel and kernel < SAFE_KERNEL:
        yield Refusal(
            "memory-qos-on-old-kernel",
            f"kernel {draft.facts.kernel} may stall a pod forever at memory.high, which the gate {MEMORY_QOS} sets;"
            f" {format_version(SAFE_KERNEL)} does not (KEP-2570)",
            "Upgrade the kernel, or remove the gate for this node.",
            variable="feature_gates",
        )
