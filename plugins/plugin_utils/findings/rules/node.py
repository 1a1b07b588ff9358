# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the machine and what is installed on it."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ..kubelet_values import is_true, told, value
from ..model import Effect, Finding, Rule, Severity


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
    sides = (("kubelet", facts.kubelet), ("containerd", facts.runtime))
    inside = {"kubelet"} if facts.layout.kubelet_inside else set()
    missing = [name for name, side in sides if not side.installed and name not in inside]
    if missing:
        yield Finding(
            "not-installed",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            f"{' and '.join(missing)} not found on this node.",
            (),
            "Install what is missing first; this collection installs neither.",
        )


def unfinished_transaction(facts: NodeFacts) -> Iterator[Finding]:
    if facts.unfinished_transactions:
        yield Finding(
            "unfinished-transaction",
            Severity.ERROR,
            Effect.MISALIGNED,
            "A transaction of this collection is at work here, or was cut off.",
            facts.unfinished_transactions,
            "The next provision undoes what was cut off before it looks at the node again; colocation_recover has it"
            " finished instead, or left as it is.",
        )


def swap_on(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/cm/container_manager_linux.go: the check is made at kubelet's start only."""
    fails = value(facts, "failSwapOn")
    if facts.kernel_facts.swaps and facts.kubelet.installed and (fails is None or is_true(fails)):
        yield Finding(
            "swap-on",
            Severity.ERROR,
            Effect.LATENT,
            "Swap is on, and kubelet is not configured to bear it: it will not start again.",
            (*facts.kernel_facts.swaps, told(facts, "failSwapOn")),
            "Turn swap off for good (swapoff -a, and out of /etc/fstab or zram's unit), or set failSwapOn: false.",
        )


RULES: tuple[Rule, ...] = (
    pid1_not_systemd,
    not_a_node,
    unfinished_transaction,
    swap_on,
)
