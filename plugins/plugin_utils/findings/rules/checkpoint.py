# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about kubelet's checkpoints, over which it refuses to start."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ...quantity import format_cpu_list
from ..evidence import claims
from ..model import Effect, Finding, Rule, Severity


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
            (f"{checkpoint.path}: {checkpoint.policy}", *claims(facts, "cpuManagerPolicy")),
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


RULES: tuple[Rule, ...] = (
    checkpoint_differs,
    checkpoint_cpus_differ,
)
