# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules: one small function each, from facts to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..facts.model import CgroupMode, Driver, NodeFacts
from ..quantity import format_cpu_list
from .model import Effect, Finding, Severity

Rule = Callable[[NodeFacts], Iterator[Finding]]


def _claims(facts: NodeFacts, *prefixes: str) -> tuple[str, ...]:
    return tuple(
        f"{claim.setting} = {claim.value} ({claim.source})"
        for claim in facts.claims
        if claim.setting.startswith(prefixes)
    )


def cgroup_mode_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.mode is CgroupMode.UNKNOWN:
        yield Finding(
            "cgroup-mode-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "The cgroup mode cannot be told.",
            (facts.cgroup.reason,),
            "Mount cgroups as the distribution does and reboot.",
        )


def pid1_not_systemd(facts: NodeFacts) -> Iterator[Finding]:
    if facts.pid1 not in ("systemd", None):
        yield Finding(
            "pid1-not-systemd",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            "PID 1 is not systemd.",
            (f"PID 1 is {facts.pid1}",),
            "Run against the node itself, not a container on it.",
        )


def not_a_node(facts: NodeFacts) -> Iterator[Finding]:
    missing = [name for name, side in (("kubelet", facts.kubelet), ("containerd", facts.runtime)) if not side.installed]
    if missing:
        yield Finding(
            "not-installed",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            f"{' and '.join(missing)} not found on this node.",
            (),
            "Install what is missing first; this collection installs neither.",
        )


def unreadable_config(facts: NodeFacts) -> Iterator[Finding]:
    for config in (facts.kubelet.config, facts.runtime.config):
        if config.problem:
            line = f":{config.problem.line}" if config.problem.line is not None else ""
            yield Finding(
                "config-unreadable",
                Severity.ERROR,
                Effect.UNKNOWN,
                f"{config.path} cannot be read.",
                (f"{config.path}{line}: {config.problem.message}",),
                "Correct the file; its owner would not start with it.",
            )


def driver_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and facts.kubelet.cgroup_driver is None and not facts.kubelet.config.problem:
        yield Finding(
            "kubelet-driver-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "kubelet's cgroup driver is neither systemd nor cgroupfs.",
            _claims(facts, "cgroupDriver"),
            "kubelet treats any other word as cgroupfs; write one of the two.",
        )


def handlers_disagree(facts: NodeFacts) -> Iterator[Finding]:
    if len({handler.configured for handler in facts.runtime.handlers}) > 1:
        yield Finding(
            "runtime-handlers-disagree",
            Severity.ERROR,
            Effect.MISALIGNED,
            "containerd's runtime handlers do not all use the same cgroup driver.",
            _claims(facts, "SystemdCgroup"),
            "Set SystemdCgroup alike for every handler of runc type.",
        )


def driver_mismatch(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet.cgroup_driver
    running = facts.runtime.running_cgroup_driver or facts.runtime.cgroup_driver
    if facts.runtime.installed and kubelet and running and kubelet is not running:
        yield Finding(
            "driver-mismatch",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"kubelet uses {kubelet.value}, containerd uses {running.value}.",
            _claims(facts, "cgroupDriver", "SystemdCgroup"),
            "Align both to one driver: ansible-playbook volcano.colocation.provision.",
        )


def containers_misplaced(facts: NodeFacts) -> Iterator[Finding]:
    if facts.pods.misplaced_paths:
        yield Finding(
            "containers-misplaced",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{len(facts.pods.misplaced_paths)} container(s) run outside kubelet's cgroup tree.",
            facts.pods.misplaced_paths[:3],
            "Align the drivers; limits of pods and QoS classes do not reach these containers.",
        )


def containers_of_other_driver(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.kubelet.cgroup_driver
    other = facts.pods.systemd_paths if driver is Driver.CGROUPFS else facts.pods.cgroupfs_paths
    if driver and other:
        yield Finding(
            "containers-of-other-driver",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{other} container(s) run in the tree of another driver than kubelet's {driver.value}.",
            _claims(facts, "cgroupDriver"),
            "Drain the node and have its pods made again.",
        )


def next_restart_of_runtime(facts: NodeFacts) -> Iterator[Finding]:
    changed = [each for each in facts.runtime.handlers if each.running and each.running is not each.configured]
    if changed:
        yield Finding(
            "runtime-restart-changes-driver",
            Severity.WARNING,
            Effect.LATENT,
            "containerd's file says another cgroup driver than the one it runs with.",
            _claims(facts, "SystemdCgroup"),
            "Decide which is right before containerd or the node restarts.",
        )


def next_restart_of_kubelet(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.running and facts.kubelet.config.changed_after_start:
        yield Finding(
            "kubelet-older-than-config",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's file changed after kubelet started.",
            (facts.kubelet.config.path,),
            "What it runs with may differ from the file; the next restart takes the file.",
        )


def checkpoint_differs(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    checkpoint = kubelet.checkpoint
    if checkpoint.exists and checkpoint.policy is None:
        yield Finding(
            "checkpoint-unreadable",
            Severity.ERROR,
            Effect.LATENT,
            "The CPU manager's checkpoint cannot be read.",
            (checkpoint.path,),
            "Drain the node, stop kubelet, move the file away, start kubelet.",
        )
    elif checkpoint.exists and kubelet.cpu_manager_policy and checkpoint.policy != kubelet.cpu_manager_policy:
        yield Finding(
            "checkpoint-policy-differs",
            Severity.ERROR,
            Effect.LATENT,
            "The CPU manager's checkpoint was made under another policy; kubelet will not start with it.",
            (f"{checkpoint.path}: {checkpoint.policy}", *_claims(facts, "cpuManagerPolicy")),
            "Drain the node, stop kubelet, move the file away, start kubelet; or have the policy provisioned.",
        )


def checkpoint_cpus_differ(facts: NodeFacts) -> Iterator[Finding]:
    checkpoint = facts.kubelet.checkpoint
    if checkpoint.policy == "static" and checkpoint.cpus is not None and checkpoint.cpus != facts.online_cpus:
        yield Finding(
            "checkpoint-cpus-differ",
            Severity.ERROR,
            Effect.LATENT,
            "Other CPUs are online than the CPU manager's checkpoint knows; kubelet will not start with it.",
            (
                f"checkpoint: {format_cpu_list(checkpoint.cpus)}",
                f"online: {format_cpu_list(facts.online_cpus)}",
            ),
            "Bring the CPUs back online, or drain the node and move the checkpoint away while kubelet is stopped.",
        )


def second_tree(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.kubelet.cgroup_driver
    if driver is None:
        return
    other = Driver.CGROUPFS if driver is Driver.SYSTEMD else Driver.SYSTEMD
    stale = tuple(tree for tree in facts.cgroup.trees if tree.endswith("/" + other.tree))
    if stale:
        yield Finding(
            "second-tree",
            Severity.INFO,
            Effect.NONE,
            f"A cgroup tree of the {other.value} driver lies beside kubelet's own.",
            stale,
            "Agents and monitoring may read the wrong one. kubelet 1.20 makes one itself with the systemd driver on"
            " v2; otherwise a reboot of the drained node removes it.",
        )


def unfinished_transaction(facts: NodeFacts) -> Iterator[Finding]:
    if facts.unfinished_transactions:
        yield Finding(
            "unfinished-transaction",
            Severity.ERROR,
            Effect.MISALIGNED,
            "A transaction of this collection is at work here, or was cut off.",
            facts.unfinished_transactions,
            "The next provision undoes what was cut off before it looks at the node again.",
        )


def kubelet_unhealthy(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and not facts.kubelet.healthy:
        state = facts.kubelet.unit_state or "unknown"
        yield Finding(
            "kubelet-unhealthy",
            Severity.ERROR,
            Effect.MISALIGNED,
            "kubelet does not run, or its healthz does not answer ok.",
            (f"kubelet.service is {state}",),
            "See journalctl -u kubelet.",
        )


def runtime_silent(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.installed and not facts.runtime.running:
        yield Finding(
            "runtime-silent",
            Severity.ERROR,
            Effect.UNKNOWN,
            "containerd does not answer over CRI.",
            (facts.runtime.endpoint,),
            "See journalctl -u containerd.",
        )


RULES: tuple[Rule, ...] = (
    cgroup_mode_unknown,
    pid1_not_systemd,
    not_a_node,
    unreadable_config,
    driver_unknown,
    unfinished_transaction,
    runtime_silent,
    kubelet_unhealthy,
    handlers_disagree,
    driver_mismatch,
    containers_misplaced,
    containers_of_other_driver,
    next_restart_of_runtime,
    next_restart_of_kubelet,
    checkpoint_differs,
    checkpoint_cpus_differ,
    second_tree,
)


def findings(facts: NodeFacts) -> tuple[Finding, ...]:
    """All findings of a node, in the order of the rules."""
    return tuple(found for rule in RULES for found in rule(facts))
