# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about others who write to the same cgroups."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.known_writers import QOS_AGENTS
from ...facts.model import CgroupMode, NodeFacts
from ..model import Effect, Finding, Rule, Severity

_BACKUPS = ("~", ".bak", ".orig", ".old", ".save", ".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-dist", ".swp")
_WATCHED = ("kubepods.slice", "-.slice")


def _seen(facts: NodeFacts, *names: str) -> tuple[str, ...]:
    return tuple(f"{name}: {facts.writers.seen[name]}" for name in names if name in facts.writers.seen)


def two_qos_agents(facts: NodeFacts) -> Iterator[Finding]:
    agents = _seen(facts, *QOS_AGENTS.values())
    if len(agents) > 1:
        yield Finding(
            "two-qos-agents",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{len(agents)} agents set CPU and memory of pods on this node, and undo each other.",
            agents,
            "Keep one of them: take the node out of the other's node selector.",
        )


def rubik_without_v1(facts: NodeFacts) -> Iterator[Finding]:
    agent = _seen(facts, "rubik")
    if agent and facts.cgroup.mode is CgroupMode.V2:
        yield Finding(
            "rubik-needs-v1",
            Severity.ERROR,
            Effect.MISALIGNED,
            "rubik runs on a cgroup v2 node; it knows only the files of v1.",
            (*agent, facts.cgroup.reason),
            "Take rubik off this node and use Volcano's agent, or boot the node with v1 (systemd 255 or older).",
        )


def rubik_without_kernel(facts: NodeFacts) -> Iterator[Finding]:
    """rubik docs/config.md: preemption needs openEuler's qos_level files, psi their pressure files on v1."""
    features = facts.kernel_facts.features
    lacking = tuple(
        f"{name}: {facts.kernel_facts.probed[name]} does not exist"
        for name in ("cpu_qos_level", "memory_qos_level")
        if features.get(name) is False
    )
    if lacking and "rubik" in facts.writers.seen and facts.cgroup.mode is not CgroupMode.V2:
        yield Finding(
            "rubik-lacks-kernel",
            Severity.WARNING,
            Effect.NONE,
            "rubik runs here, and this kernel has not all that its preemption writes to.",
            lacking,
            "Boot openEuler's kernel (22.03 SP2 or newer), or turn preemption off in /var/lib/rubik/config.json.",
        )


def oomd_kills(facts: NodeFacts) -> Iterator[Finding]:
    units = facts.systemd.units
    killed = tuple(
        f"{name}: {key}=kill"
        for name in _WATCHED
        for key in ("ManagedOOMSwap", "ManagedOOMMemoryPressure")
        if units.get(name, {}).get(key) == "kill"
    )
    active = _seen(facts, "systemd-oomd")
    if active and killed and facts.kubelet.installed:
        yield Finding(
            "oomd-kills-pods",
            Severity.WARNING,
            Effect.NONE,
            "systemd-oomd may kill pods without kubelet's knowledge.",
            (*active, *killed),
            "Disable systemd-oomd on nodes, or set ManagedOOMSwap=auto and ManagedOOMMemoryPressure=auto for these"
            " slices.",
        )


def overridden_tree(facts: NodeFacts) -> Iterator[Finding]:
    if facts.writers.overrides:
        yield Finding(
            "kubepods-overridden",
            Severity.WARNING,
            Effect.NONE,
            "systemctl set-property has stored properties for kubelet's own slices.",
            facts.writers.overrides,
            "kubelet and these settings overwrite each other: remove them with systemctl revert SLICE.",
        )


def nri_backup(facts: NodeFacts) -> Iterator[Finding]:
    found = tuple(name for name in facts.writers.nri_plugins if name.endswith(_BACKUPS))
    if found:
        yield Finding(
            "nri-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "A backup lies in NRI's plugin folder: the runtime starts every executable file there.",
            tuple(f"/opt/nri/plugins/{name}" for name in found),
            "Move it out of the folder before the runtime restarts.",
        )


RULES: tuple[Rule, ...] = (
    two_qos_agents,
    rubik_without_v1,
    rubik_without_kernel,
    oomd_kills,
    overridden_tree,
    nri_backup,
)
