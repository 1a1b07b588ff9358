# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints of kubelet's CPU and memory managers, with which it may refuse to start."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.quantity import format_cpu_list
from ..facts.config_file import Problem, advice
from ..facts.kubelet_state import Checkpoint
from ..facts.node_allocatable import UnreadableReservation, cpu_reservation, has_strict_cpu_reservation
from ..facts.node_state import NodeFacts
from .config_files import describe_problem
from .evidence import quote_claims
from .rule_types import Effect, Finding, Severity

DAMAGED = "is not a JSON document with a policy"
MOVE_AWAY = "Drain the node, stop kubelet, move the file away, start kubelet."


def _refused(code: str, summary: str, evidence: tuple[str, ...], remedy: str = MOVE_AWAY) -> Finding:
    return Finding(code, Severity.ERROR, Effect.LATENT, summary, evidence, remedy)


def _unread(code: str, summary: str, problem: Problem) -> Finding:
    """The checkpoint may be right: nothing is moved away."""
    evidence = (describe_problem(problem),)
    remedy = advice("Until it is read, it is unknown whether kubelet starts with it.", problem)
    return Finding(code, Severity.ERROR, Effect.UNKNOWN, summary, evidence, remedy)


def checkpoint_differs(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    checkpoint = kubelet.checkpoint
    if checkpoint.unread:
        yield _unread("checkpoint-unreadable", "The CPU manager's checkpoint was not read.", checkpoint.unread)
    elif checkpoint.exists and checkpoint.policy is None:
        yield _refused(
            "checkpoint-unreadable",
            "The CPU manager's checkpoint is damaged; kubelet will not start with it.",
            (f"{checkpoint.path}: {DAMAGED}",),
        )
    elif checkpoint.exists and kubelet.cpu_manager_policy and checkpoint.policy != kubelet.cpu_manager_policy:
        yield _refused(
            "checkpoint-policy-differs",
            "The CPU manager's checkpoint was written under another policy; kubelet will not start with it.",
            (f"{checkpoint.path}: {checkpoint.policy}", *quote_claims(facts, "cpuManagerPolicy")),
            MOVE_AWAY.replace("start kubelet.", "start kubelet; or set the policy with provision."),
        )


def checkpoint_corrupt(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.checkpoint.checksum == "invalid":
        yield _refused(
            "checkpoint-corrupt",
            "The CPU manager's checkpoint was edited or truncated; its checksum is wrong.",
            (facts.kubelet.checkpoint.path,),
        )


def checkpoint_cpus_differ(facts: NodeFacts) -> Iterator[Finding]:
    """policy_static.go validateState; kubelet fills an empty shared set if there are no containers."""
    checkpoint = facts.kubelet.checkpoint
    if checkpoint.policy != "static" or not checkpoint.cpus or not facts.online_cpus:
        return
    known = _known(facts, checkpoint)
    if known != facts.online_cpus:
        yield _refused(
            "checkpoint-cpus-differ",
            "The online CPUs differ from those of the CPU manager's checkpoint; kubelet will not start with it.",
            (f"checkpoint: {format_cpu_list(known)}", f"online: {format_cpu_list(facts.online_cpus)}"),
            "Bring the CPUs back online, or drain the node and move the checkpoint away while kubelet is stopped.",
        )


def _known(facts: NodeFacts, checkpoint: Checkpoint) -> frozenset[int]:
    """The CPUs that a checkpoint accounts for; with strict-cpu-reservation its sets do not have the reserved ones."""
    cpus = checkpoint.cpus or frozenset()
    if not has_strict_cpu_reservation(facts.kubelet.settings):
        return cpus
    try:
        reservation = cpu_reservation(facts.kubelet.settings)
    except UnreadableReservation:
        return cpus
    if reservation.ids is not None:
        return cpus | reservation.ids
    absent = facts.online_cpus - cpus
    # Which cores kubelet reserves depends on the topology; only their number can be compared.
    return facts.online_cpus if cpus <= facts.online_cpus and len(absent) == reservation.count else cpus


def checkpoint_reserved_differs(facts: NodeFacts) -> Iterator[Finding]:
    checkpoint, settings = facts.kubelet.checkpoint, facts.kubelet.settings
    if checkpoint.policy != "static" or facts.kubelet.cpu_manager_policy != "static" or not checkpoint.shared:
        return
    try:
        ids = cpu_reservation(settings).ids
    except UnreadableReservation:
        return
    if ids is None:
        return
    wrong = ids & checkpoint.shared if has_strict_cpu_reservation(settings) else ids - checkpoint.shared
    if wrong:
        state = "still shares" if has_strict_cpu_reservation(settings) else "does not share"
        yield _refused(
            "checkpoint-reserved-differ",
            f"The CPU manager's checkpoint {state} reserved CPU {format_cpu_list(wrong)}; kubelet will not start.",
            (
                f"{checkpoint.path}: shared {format_cpu_list(checkpoint.shared)}",
                *quote_claims(facts, "reservedSystemCPUs", "cpuManagerPolicyOptions"),
            ),
        )


def memory_checkpoint_differs(facts: NodeFacts) -> Iterator[Finding]:
    checkpoint = facts.kubelet.memory_checkpoint
    policy = facts.kubelet.settings.get("memoryManagerPolicy")
    if checkpoint is None or not checkpoint.exists:
        return
    if checkpoint.unread:
        yield _unread(
            "memory-checkpoint-unreadable", "The memory manager's checkpoint was not read.", checkpoint.unread
        )
    elif checkpoint.policy is None:
        yield _refused(
            "memory-checkpoint-unreadable",
            "The memory manager's checkpoint is damaged; kubelet will not start with it.",
            (f"{checkpoint.path}: {DAMAGED}",),
        )
    elif policy and checkpoint.policy != policy.value:
        yield _refused(
            "memory-checkpoint-policy-differs",
            "The memory manager's checkpoint was written under another policy; kubelet will not start with it.",
            (f"{checkpoint.path}: {checkpoint.policy}", f"memoryManagerPolicy = {policy.value} ({policy.source})"),
        )
