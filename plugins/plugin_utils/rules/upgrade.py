# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would stop working on a node after an upgrade. It works now, so the verdict does not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..facts.node_state import CgroupMode, NodeFacts
from ..profile.kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    FAIL_CGROUP_V1,
    FEATURE_GATES,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICY,
)
from ..profile.node_profile import Targets
from ..releases import kubelet_features as history
from ..releases.kubelet_features import asks_cri
from ..releases.versions import format_version, minor
from .evidence import quote_claims
from .kubelet_flags import removed_flags
from .memory_qos import ON_BY_DEFAULT, SAFE_KERNEL, chosen_gate, reserves, switched_off, throttles
from .rule_types import Effect, Finding, Severity

Version = tuple[int, int]


UpgradeRule = Callable[[NodeFacts, Targets], Iterator[Finding]]


V1_REFUSED = (1, 35)  # failCgroupV1 is true by default, KEP-5573


V1_GONE = (1, 38)  # KEP-5573: not before this release


FALLBACK_WARNS = (1, 34)  # KEP-4033


FALLBACK_GONE = (1, 38)  # KEP-4033, deferred from 1.36 (kubernetes#136731)


RUNTIME_CONFIG_SINCE = (2, 0)  # containerd; not backported to 1.7 (containerd#11346)


SYSTEMD_V1_FORCED = 256  # systemd NEWS: also needs SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1 (systemd#31442)


SYSTEMD_V1_GONE = 258  # systemd NEWS


SYSTEMD_KERNELS = ((260, (5, 10)), (258, (5, 4)))  # systemd NEWS, the newest first


def _finding(code: str, severity: Severity, summary: str, evidence: tuple[str, ...], remedy: str) -> Finding:
    return Finding(code, severity, Effect.NONE, summary, evidence, remedy)


def _on_v1(facts: NodeFacts) -> bool:
    return facts.cgroup.mode in (CgroupMode.V1, CgroupMode.HYBRID)


def _table(facts: NodeFacts, key: str) -> dict[str, object]:
    value = facts.kubelet.settings[key].value if key in facts.kubelet.settings else None
    return {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}


def _containerd(facts: NodeFacts, targets: Targets) -> Version | None:
    """containerd's version after the upgrade; None if kubelet uses another runtime."""
    if facts.runtime.name not in ("containerd", None):
        return None
    return targets.containerd or minor(facts.runtime.version)


def cgroup_v1(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    target = targets.kubernetes
    if not _on_v1(facts) or target is None or target < V1_REFUSED:
        return
    setting = facts.kubelet.settings.get(FAIL_CGROUP_V1.key)
    allowed = setting is not None and setting.value is False
    removed = target >= V1_GONE
    if allowed and not removed:
        severity, consequence = Severity.WARNING, "starts on cgroup v1 only because failCgroupV1 is false"
    else:
        severity, consequence = Severity.ERROR, "does not start on cgroup v1"
    yield _finding(
        "upgrade-cgroup-v1",
        severity,
        f"kubelet {format_version(target)} {consequence}.",
        (facts.cgroup.reason, *quote_claims(facts, FAIL_CGROUP_V1.key), "KEP-5573"),
        "Boot the node with cgroup v2 before the upgrade"
        + ("." if removed or allowed else ", or set failCgroupV1: false, which may work until 1.38."),
    )


def flags_removed(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    start = facts.kubelet.start
    flags = (*start.environment, *start.running, *(start.following or ()))
    removed = removed_flags(flags, targets.kubernetes) if targets.kubernetes else ()
    if targets.kubernetes and removed:
        yield _finding(
            "upgrade-flags-removed",
            Severity.ERROR,
            f"kubelet {format_version(targets.kubernetes)} does not start: {len(removed)} of the node's flags"
            " were removed.",
            removed,
            "Remove them from kubelet's unit, its drop-ins and environment files before the upgrade.",
        )


def cri_fallback(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    target, containerd = targets.kubernetes, _containerd(facts, targets)
    if target is None or containerd is None or target < FALLBACK_WARNS or containerd >= RUNTIME_CONFIG_SINCE:
        return
    removed = target >= FALLBACK_GONE
    yield _finding(
        "upgrade-cri-fallback",
        Severity.ERROR if removed else Severity.WARNING,
        f"containerd {format_version(containerd)} has no RuntimeConfig, and kubelet {format_version(target)} "
        + ("does not start without it." if removed else "falls back to its own driver with a warning, until 1.38."),
        (f"containerd {format_version(containerd)}", "KEP-4033"),
        "Upgrade containerd to 2.0 or newer first.",
    )


def driver_from_cri(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    """After an upgrade of kubelet or containerd, kubelet may take the driver from containerd (KEP-4033)."""
    target = targets.kubernetes or minor(facts.kubelet.version)
    containerd = _containerd(facts, targets)
    own, runtime = facts.driver.kubelet, facts.driver.runtime
    if facts.driver.authority == "cri" or containerd is None or containerd < RUNTIME_CONFIG_SINCE:
        return
    if own and runtime and own is not runtime and asks_cri(target, _table(facts, FEATURE_GATES.key)):
        yield _finding(
            "upgrade-driver-from-cri",
            Severity.ERROR,
            f"kubelet would use containerd's cgroup driver {runtime.value} instead of {own.value}.",
            (*quote_claims(facts, "cgroupDriver", "SystemdCgroup"), "KEP-4033"),
            "Align both drivers on the drained node before the upgrade.",
        )


def memory_qos(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    """The gate becomes on by default; what kubelet writes then depends on two fields, which older versions ignore."""
    target, now = targets.kubernetes, minor(facts.kubelet.version)
    if facts.cgroup.mode is not CgroupMode.V2 or target is None or target < ON_BY_DEFAULT:
        return
    if (now and now >= ON_BY_DEFAULT) or chosen_gate(facts) is not None:
        return
    high, least = throttles(facts, target), reserves(facts, target)
    if not (high or least):
        return
    kernel = minor(facts.kernel)
    old = high and kernel is not None and kernel < SAFE_KERNEL
    yield _finding(
        "upgrade-memory-qos",
        Severity.WARNING if old else Severity.INFO,
        f"kubelet {format_version(target)} will set {'memory.high' if high else 'memory.min'} of pods:"
        " MemoryQoS is on by default.",
        (
            f"kernel {facts.kernel}",
            *quote_claims(facts, "memoryThrottlingFactor", "memoryReservationPolicy"),
            "KEP-2570",
        ),
        f"Let no agent set the same files, or set {switched_off(facts, target)}"
        + ("; before Linux 5.9 memory.high may stall a pod." if old else "."),
    )


def manager_options(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    if targets.kubernetes is None:
        return
    gates = _table(facts, FEATURE_GATES.key)
    cpu, topology = _table(facts, CPU_MANAGER_OPTIONS.key), _table(facts, TOPOLOGY_MANAGER_OPTIONS.key)
    policy = facts.kubelet.settings.get(TOPOLOGY_MANAGER_POLICY.key)
    reasons = (
        *history.option_errors(history.CPU_MANAGER, cpu, gates, targets.kubernetes),
        *history.option_conflicts(cpu, str(policy.value) if policy else None),
        *history.option_errors(history.TOPOLOGY_MANAGER, topology, gates, targets.kubernetes),
    )
    if reasons:
        yield _finding(
            "upgrade-manager-options",
            Severity.ERROR,
            f"kubelet {format_version(targets.kubernetes)} does not start with the options of its resource managers.",
            reasons,
            "Remove the options that this version does not accept, or enable their feature gate.",
        )


def systemd_v1(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    target = targets.systemd
    if target is None or target < SYSTEMD_V1_FORCED or not _on_v1(facts):
        return
    removed = target >= SYSTEMD_V1_GONE
    yield _finding(
        "upgrade-systemd-cgroup-v1",
        Severity.ERROR if removed else Severity.WARNING,
        f"systemd {target} "
        + ("does not boot with cgroup v1." if removed else "boots with cgroup v1 after a delay; 256 only if forced."),
        (facts.cgroup.reason, "systemd NEWS, 256 to 258"),
        "Boot the node with cgroup v2 before the upgrade.",
    )


def systemd_kernel(facts: NodeFacts, targets: Targets) -> Iterator[Finding]:
    kernel = minor(facts.kernel)
    needed = next((least for since, least in SYSTEMD_KERNELS if targets.systemd and targets.systemd >= since), None)
    if kernel and needed and kernel < needed:
        yield _finding(
            "upgrade-systemd-kernel",
            Severity.ERROR,
            f"systemd {targets.systemd} needs Linux {format_version(needed)}.",
            (f"kernel {facts.kernel}", "systemd NEWS"),
            "Upgrade the kernel first.",
        )


UPGRADE_RULES: tuple[UpgradeRule, ...] = (
    cgroup_v1,
    flags_removed,
    cri_fallback,
    driver_from_cri,
    memory_qos,
    manager_options,
    systemd_v1,
    systemd_kernel,
)


def upgrade_findings(facts: NodeFacts, targets: Targets) -> tuple[Finding, ...]:
    """What would stop working with the target versions; empty without target versions."""
    if targets == Targets():
        return ()
    return tuple(finding for rule in UPGRADE_RULES for finding in rule(facts, targets))
