# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the cgroup driver: who says what, and where pods really run."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils.cgroup.kubelet_names import Driver
from ...facts.node_state import RUNTIME_SETTINGS, NodeFacts
from ...releases.containerd_schema import parse_release
from ..evidence import claims
from ..model import Effect, Finding, Rule, Severity


def driver_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and facts.kubelet.cgroup_driver is None and not facts.kubelet.config.problem:
        yield Finding(
            "kubelet-driver-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "kubelet's cgroup driver is neither systemd nor cgroupfs.",
            claims(facts, "cgroupDriver"),
            "kubelet treats any other word as cgroupfs; write one of the two.",
        )


def runtime_driver_unknown(facts: NodeFacts) -> Iterator[Finding]:
    """Of files that containerd would not take, what is wrong with them is a finding of its own."""
    runtime = facts.runtime
    unknown = [each.name for each in runtime.handlers if each.configured is None and each.running is None]
    if unknown and parse_release(runtime.version) is None and not runtime.config.problem:
        yield Finding(
            "runtime-driver-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "containerd's release is unknown, and its files mean one cgroup driver or another by release.",
            (f"handlers: {', '.join(unknown)}", *(each.path for each in runtime.layers)),
            "Keep one file without imports, in the schema of the release that the image has.",
        )


def handlers_disagree(facts: NodeFacts) -> Iterator[Finding]:
    handlers = facts.runtime.handlers
    configured = {handler.configured for handler in handlers if handler.configured}
    running = {handler.running for handler in handlers if handler.running}
    if len(configured) > 1 or len(running) > 1:
        yield Finding(
            "runtime-handlers-disagree",
            Severity.ERROR,
            Effect.MISALIGNED,
            "containerd's runtime handlers do not all use the same cgroup driver.",
            claims(facts, "SystemdCgroup"),
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
            f"kubelet uses {kubelet.value}, {facts.runtime.name} uses {running.value}.",
            claims(facts, "cgroupDriver", *RUNTIME_SETTINGS),
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
            claims(facts, "cgroupDriver"),
            "Drain the node and have its pods made again.",
        )


def next_restart_of_runtime(facts: NodeFacts) -> Iterator[Finding]:
    runtime = facts.runtime
    changed = [each for each in runtime.handlers if each.running and each.configured not in (each.running, None)]
    # CRI-O has one driver for all handlers.
    one = not runtime.handlers and runtime.running_cgroup_driver and runtime.cgroup_driver
    if changed or (one and runtime.running_cgroup_driver is not runtime.cgroup_driver):
        yield Finding(
            "runtime-restart-changes-driver",
            Severity.WARNING,
            Effect.LATENT,
            f"{runtime.name}'s files say another cgroup driver than the one it runs with.",
            claims(facts, *RUNTIME_SETTINGS),
            f"Decide which is right before {runtime.name} or the node restarts.",
        )


RULES: tuple[Rule, ...] = (
    driver_unknown,
    runtime_driver_unknown,
    handlers_disagree,
    driver_mismatch,
    containers_misplaced,
    containers_of_other_driver,
    next_restart_of_runtime,
)
