# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about others who write to the same cgroups."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...facts.other_writers import QOS_AGENTS
from ..evidence import seen
from ..model import Effect, Finding, Rule, Severity

_WATCHED = ("kubepods.slice", "-.slice")


def two_qos_agents(facts: NodeFacts) -> Iterator[Finding]:
    agents = seen(facts, *QOS_AGENTS.values())
    if len(agents) > 1:
        yield Finding(
            "two-qos-agents",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{len(agents)} agents set CPU and memory of pods on this node, and undo each other.",
            agents,
            "Keep one of them: take the node out of the other's node selector.",
        )


def oomd_kills(facts: NodeFacts) -> Iterator[Finding]:
    units = facts.systemd.units
    killed = tuple(
        f"{name}: {key}=kill"
        for name in _WATCHED
        for key in ("ManagedOOMSwap", "ManagedOOMMemoryPressure")
        if units.get(name, {}).get(key) == "kill"
    )
    active = seen(facts, "systemd-oomd")
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


RULES: tuple[Rule, ...] = (
    two_qos_agents,
    oomd_kills,
    overridden_tree,
)
