# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about whether kubelet and the runtime run and answer."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def runtime_silent(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.installed and not facts.runtime.running and not facts.image:
        yield Finding(
            "runtime-silent",
            Severity.ERROR,
            Effect.UNKNOWN,
            f"{facts.runtime.name} does not answer over CRI.",
            (facts.runtime.endpoint,),
            f"See journalctl -u {facts.runtime.unit}.",
        )


def kubelet_unhealthy(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and not facts.kubelet.healthy and not facts.image:
        state = facts.kubelet.unit_state or "unknown"
        yield Finding(
            "kubelet-unhealthy",
            Severity.ERROR,
            Effect.MISALIGNED,
            "kubelet does not run, or its healthz does not answer ok.",
            (f"kubelet.service is {state}",),
            "See journalctl -u kubelet.",
        )


def restart_kills_pods(facts: NodeFacts) -> Iterator[Finding]:
    """containerd docs/ops.md: shims outlive containerd only with KillMode=process and Delegate=yes."""
    unit = facts.systemd.units.get("containerd.service", {})
    wanted = (("KillMode", "process"), ("Delegate", "yes"))
    wrong = tuple(f"containerd.service: {key}={unit[key]}" for key, right in wanted if unit.get(key, right) != right)
    if wrong and unit.get("LoadState") == "loaded" and facts.pods.sandboxes:
        yield Finding(
            "runtime-restart-kills-pods",
            Severity.WARNING,
            Effect.LATENT,
            "containerd's unit does not spare its containers: a restart may kill every pod of the node.",
            wrong,
            "Give the unit KillMode=process and Delegate=yes in a drop-in, daemon-reload, and only then restart it.",
        )


RULES: tuple[Rule, ...] = (
    runtime_silent,
    kubelet_unhealthy,
    restart_kills_pods,
)
