# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether systemd, kubelet and the runtime are installed, run and answer, and what a restart of their units does."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from .rule_types import Effect, Finding, Severity


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
            "Install it first; this collection installs neither kubelet nor a runtime.",
        )


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
    """A running kubelet without a healthz endpoint counts as healthy."""
    ill = facts.kubelet.healthy is False or not facts.kubelet.running
    if facts.kubelet.installed and ill and not facts.image:
        state = facts.kubelet.unit_state or "unknown"
        yield Finding(
            "kubelet-unhealthy",
            Severity.ERROR,
            Effect.MISALIGNED,
            "kubelet does not run, or its healthz endpoint does not answer ok.",
            (f"kubelet.service is {state}",),
            "See journalctl -u kubelet.",
        )


def restart_kills_pods(facts: NodeFacts) -> Iterator[Finding]:
    """containerd docs/ops.md: shims outlive containerd only with KillMode=process and Delegate=yes."""
    unit = facts.systemd.units.get("containerd.service", {})
    required = (("KillMode", "process"), ("Delegate", "yes"))
    wrong = tuple(f"containerd.service: {key}={unit[key]}" for key, right in required if unit.get(key, right) != right)
    if wrong and unit.get("LoadState") == "loaded" and facts.pods.sandboxes:
        yield Finding(
            "runtime-restart-kills-pods",
            Severity.WARNING,
            Effect.LATENT,
            "A restart of containerd may kill every pod of the node: its unit lacks KillMode=process or Delegate=yes.",
            wrong,
            "Set both in a drop-in of the unit and run systemctl daemon-reload before you restart containerd.",
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
            "A unit was changed on disk after systemd loaded it: a daemon-reload or a reboot applies the change.",
            tuple(f"{name}: NeedDaemonReload=yes" for name in changed),
            "Check the unit with systemctl cat, then run systemctl daemon-reload; a restart before that starts the old"
            " unit.",
        )


def refuse_another_pid1(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.pid1 != "systemd" and not draft.facts.image:
        yield Refusal(
            "pid1-not-systemd",
            f"PID 1 of this node is {draft.facts.pid1 or 'unknown'}, not systemd",
            "Run against the node itself, not a container on it; nodes without systemd are not supported.",
        )


def refuse_stopped_kubelet(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.image:
        return
    kubelet = draft.kubelet
    if kubelet.installed and not kubelet.running and kubelet.unit_state in ("inactive", None):
        yield Refusal(
            "kubelet-not-running",
            "kubelet.service does not run, so its effective values cannot be determined",
            "Start it (systemctl start kubelet), or find out why it was stopped.",
        )


def refuse_silent_runtime(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if draft.facts.image or runtime.running or not runtime.installed:
        return
    problem = f"{runtime.name} does not answer at {runtime.endpoint}"
    if runtime.name == "containerd" and not _enables_cri(draft):
        yield Refusal(
            "containerd-not-answering",
            problem,
            "See journalctl -u containerd; the usual cause is a disabled CRI plugin or a broken config.toml.",
        )
    elif runtime.name == "cri-o":
        yield Refusal(
            "crio-not-answering",
            problem,
            "See journalctl -u crio; CRI-O reads every file in crio.conf.d and does not start if one is invalid.",
        )


def _enables_cri(draft: PlanDraft) -> bool:
    """Whether the plan enables the CRI plugin: then the reason why containerd does not answer is known."""
    return any(change.path and change.setting == "disabled_plugins" for change in draft.runtime_changes)


def refuse_missing_kubelet(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.facts.layout.kubelet_inside and not draft.kubelet.installed:
        yield Refusal(
            "kubelet-missing",
            "no kubelet program was found",
            "Install kubelet first; this collection does not install it.",
        )
