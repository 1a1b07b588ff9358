# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about NRI, through which QoS agents see containers."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ..model import Effect, Finding, Rule, Severity

STATE = {True: "on", False: "off"}


def socket_stale(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.nri.socket_stale:
        yield Finding(
            "nri-socket-stale",
            Severity.WARNING,
            Effect.NONE,
            f"The NRI socket is older than the {facts.runtime.name} that runs; somebody else listens there.",
            (facts.runtime.nri.socket_path,),
            f"Find out who does (ss -xlp), and restart {facts.runtime.name} on the drained node.",
        )


def next_restart_changes_nri(facts: NodeFacts) -> Iterator[Finding]:
    nri = facts.runtime.nri
    layers = facts.runtime.layers
    known = facts.runtime.running and nri.supported and not any(each.problem for each in layers)
    # A socket that is lacking although its runtime read these very files is not put right by a restart.
    restarts = nri.running or any(each.changed_after_start for each in layers)
    if known and restarts and nri.configured is not nri.running:
        yield Finding(
            "runtime-restart-changes-nri",
            Severity.WARNING,
            # Plugins that run today lose their runtime; switching it on takes nothing from anybody.
            Effect.LATENT if nri.running else Effect.NONE,
            f"NRI is {STATE[nri.running]} now and will be {STATE[nri.configured]} once {facts.runtime.name} restarts.",
            (f"socket {nri.socket_path}", *(each.path for each in layers if each.kind != "missing")),
            "Decide which is right; plugins must connect again after the restart.",
        )


RULES: tuple[Rule, ...] = (
    socket_stale,
    next_restart_changes_nri,
)
