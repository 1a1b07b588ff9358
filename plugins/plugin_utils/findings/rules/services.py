# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about whether kubelet and the runtime run and answer."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def runtime_silent(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.installed and not facts.runtime.running and not facts.image:
        yield Finding(
            "runtime-not-answering",
            Severity.ERROR,
            Effect.UNKNOWN,
            f"{facts.runtime.name} does not answer over CRI.",
            (facts.runtime.endpoint,),
            f"See journalctl -u {facts.runtime.unit}.",
        )


def kubelet_unhealthy(facts: NodeFacts) -> Iterator[Finding]:
    """A kubelet whose healthz is switched off is as healthy as it can tell."""
    ill = facts.kubelet.healthy is False or not facts.kubelet.running
    if facts.kubelet.installed and ill and not facts.image:
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


def unit_changed(facts: NodeFacts) -> Iterator[Finding]:
    """systemctl(1) warns of the same; org.freedesktop.systemd1(5), NeedDaemonReload."""
    names = ("kubelet.service", f"{facts.runtime.unit}.service")
    changed = tuple(name for name in names if facts.systemd.units.get(name, {}).get("NeedDaemonReload") == "yes")
    if changed:
        yield Finding(
            "unit-not-reloaded",
            Severity.WARNING,
            Effect.LATENT,
            "A unit was changed on disk, and systemd still has the old one: a reload or a reboot brings the change.",
            tuple(f"{name}: NeedDaemonReload=yes" for name in changed),
            "See what systemctl cat shows, then systemctl daemon-reload; a restart before that starts the old unit.",
        )


RULES: tuple[Rule, ...] = (
    runtime_silent,
    kubelet_unhealthy,
    restart_kills_pods,
    unit_changed,
)
