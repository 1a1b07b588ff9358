# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NRI, through which QoS agents observe containers: its socket, and whether the runtime supports it."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.containerd_defects import NRI_SOCKET
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.containerd_changes import containerd_nri_unsupported, nri_connections_disabled_by
from ..plan.crio_changes import connections_refused_by, crio_nri_unsupported
from ..plan.draft import PlanDraft
from .rule_types import Effect, Finding, Severity

STATE = {True: "on", False: "off"}


def nri_socket_stale(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.nri.socket_stale:
        yield Finding(
            "nri-socket-stale",
            Severity.WARNING,
            Effect.NONE,
            f"The NRI socket is older than the running {facts.runtime.name}, which did not create it.",
            (facts.runtime.nri.socket_path,),
            f"Find out which process listens on it (ss -xlp), and restart {facts.runtime.name} on the drained node.",
        )


def restart_changes_nri(facts: NodeFacts) -> Iterator[Finding]:
    nri = facts.runtime.nri
    layers = facts.runtime.layers
    known = facts.runtime.running and nri.supported and not any(config.problem for config in layers)
    # If the runtime already read these files and has no socket, a restart does not create one.
    restarts = nri.running or any(config.changed_after_start for config in layers)
    if known and restarts and nri.configured is not nri.running:
        yield Finding(
            "runtime-restart-changes-nri",
            Severity.WARNING,
            # Switching NRI off disconnects running plugins; switching it on disconnects none.
            Effect.LATENT if nri.running else Effect.NONE,
            f"NRI is {STATE[nri.running]} now and will be {STATE[nri.configured]} once {facts.runtime.name} restarts.",
            (f"socket {nri.socket_path}", *(config.path for config in layers if config.kind != "missing")),
            "Decide which is right; plugins must connect again after the restart.",
        )


def refuse_containerd_nri(draft: PlanDraft) -> Iterator[Refusal]:
    skip = containerd_nri_unsupported(draft.runtime, draft.profile)
    if skip and draft.profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade containerd, or set colocation_nri_unsupported to skip.",
            variable="nri.enabled",
        )


def refuse_containerd_connections(draft: PlanDraft) -> Iterator[Refusal]:
    """The health gate would wait for the socket, and roll the node back."""
    path = nri_connections_disabled_by(draft.runtime)
    if path and draft.profile.nri.enabled and not containerd_nri_unsupported(draft.runtime, draft.profile):
        yield Refusal(
            "containerd-nri-connections-disabled",
            "sets disable_connections = true in NRI's table: containerd opens no NRI socket, and no plugin can connect",
            "Remove it, or leave colocation_nri_enabled unset.",
            file=path,
            variable="nri.enabled",
        )


def refuse_relative_nri_socket(draft: PlanDraft) -> Iterator[Refusal]:
    """The socket's directory depends on how containerd is started, but the health gate and plugins must know it."""
    if not draft.profile.nri.enabled or "socket_path" in draft.profile.nri.settings:
        return
    for defect in draft.runtime.defects:
        if defect.code == NRI_SOCKET:
            yield Refusal(
                "nri-socket-relative",
                f"{defect.message} is not an absolute path",
                "Correct it, or set colocation_nri_socket_path, which replaces it.",
                file=defect.file,
                line=defect.line,
            )


def refuse_crio_nri(draft: PlanDraft) -> Iterator[Refusal]:
    skip = crio_nri_unsupported(draft.runtime, draft.profile)
    if skip and draft.profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade CRI-O, or set colocation_nri_unsupported to skip.",
            variable="nri.enabled",
        )
    closed = connections_refused_by(draft.runtime)
    if draft.profile.nri.enabled and closed and not skip:
        yield Refusal(
            "crio-nri-connections-disabled",
            "sets nri_disable_connections = true: CRI-O opens no NRI socket, and no plugin can connect",
            "Remove it, or leave colocation_nri_enabled unset.",
            file=closed,
            variable="nri.enabled",
        )
