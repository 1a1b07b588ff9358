# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd-oomd, which kills cgroups below units with ManagedOOMSwap=kill or ManagedOOMMemoryPressure=kill.

systemd-oomd.service(8): only descendants of the unit are candidates, and without swap the first has no effect.
systemd src/oom/oomd-util.c: ManagedOOMPreference=omit protects the unit's own cgroup, not the cgroups below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_state import NodeFacts
from .evidence import quote_writers
from .rule_types import Effect, Finding, Severity

_ROOT = "-.slice"
_POD_SLICES = (_ROOT, "kubepods.slice", "kubepods-burstable.slice", "kubepods-besteffort.slice")
_SERVICES = ("kubelet.service", "containerd.service", "crio.service")
_SYSTEM_SLICE = "system.slice"


def kills_pods(facts: NodeFacts) -> Iterator[Finding]:
    active, watched = quote_writers(facts, "systemd-oomd"), _watched(facts, *_POD_SLICES)
    if active and watched and facts.kubelet.installed:
        yield Finding(
            "oomd-kills-pods",
            Severity.WARNING,
            Effect.NONE,
            "systemd-oomd may kill pods without kubelet's knowledge.",
            (*active, *watched),
            "Disable systemd-oomd on nodes, or set ManagedOOMSwap=auto and ManagedOOMMemoryPressure=auto for these"
            " slices.",
        )


def kills_services(facts: NodeFacts) -> Iterator[Finding]:
    active, watched = quote_writers(facts, "systemd-oomd"), _watched(facts, _ROOT, _SYSTEM_SLICE)
    services = tuple(_unprotected(facts))
    if active and watched and services and facts.kubelet.installed:
        yield Finding(
            "oomd-kills-services",
            Severity.WARNING,
            Effect.NONE,
            "systemd-oomd may kill kubelet or the container runtime.",
            (*active, *watched, *services),
            "Disable systemd-oomd on nodes, or set ManagedOOMPreference=omit in drop-ins of these services.",
        )


def _watched(facts: NodeFacts, *slices: str) -> tuple[str, ...]:
    """The settings with which systemd-oomd kills below one of these slices."""
    # If the node does not show whether swap is on, it may be.
    swap = () if facts.kernel_facts.swaps == () else ("ManagedOOMSwap",)
    return tuple(
        f"{name}: {key}=kill"
        for name in slices
        for key in (*swap, "ManagedOOMMemoryPressure")
        if facts.systemd.units.get(name, {}).get(key) == "kill"
    )


def _unprotected(facts: NodeFacts) -> Iterator[str]:
    """Each service of the node below system.slice that systemd-oomd may choose."""
    for name in _SERVICES:
        unit = facts.systemd.units.get(name, {})
        preference = unit.get("ManagedOOMPreference") or "none"
        if unit.get("ControlGroup", "").startswith(f"/{_SYSTEM_SLICE}/") and preference != "omit":
            yield f"{name}: ManagedOOMPreference={preference} in {_SYSTEM_SLICE}"
