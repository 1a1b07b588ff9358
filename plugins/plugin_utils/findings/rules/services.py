# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about whether kubelet and the runtime run and answer."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def runtime_silent(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.installed and not facts.runtime.running:
        yield Finding(
            "runtime-silent",
            Severity.ERROR,
            Effect.UNKNOWN,
            f"{facts.runtime.name} does not answer over CRI.",
            (facts.runtime.endpoint,),
            f"See journalctl -u {facts.runtime.unit}.",
        )


def kubelet_unhealthy(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and not facts.kubelet.healthy:
        state = facts.kubelet.unit_state or "unknown"
        yield Finding(
            "kubelet-unhealthy",
            Severity.ERROR,
            Effect.MISALIGNED,
            "kubelet does not run, or its healthz does not answer ok.",
            (f"kubelet.service is {state}",),
            "See journalctl -u kubelet.",
        )


RULES: tuple[Rule, ...] = (
    runtime_silent,
    kubelet_unhealthy,
)
