# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node is refused whatever the profile: it is none of ours, or it cannot tell what is in force."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import CgroupMode
from ..change_set import Impact, Refusal
from ..containerd_location import location_obstacle
from ..draft import PlanDraft
from .model import Rule


def _pid1(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.pid1 != "systemd" and not draft.facts.image:
        yield Refusal(
            "pid1-not-systemd",
            f"PID 1 of this node is {draft.facts.pid1 or 'unknown'}, not systemd",
            "Run against the node itself, not a container on it; nodes without systemd are not supported.",
        )


def _cgroup_mode(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.cgroup.mode is CgroupMode.UNKNOWN and not draft.facts.image:
        yield Refusal(
            "cgroup-mode-unknown",
            f"the cgroup mode cannot be told: {draft.facts.cgroup.reason}",
            "Mount cgroups as the distribution does and reboot; guessing a version would put limits nowhere.",
            file="/proc/self/mountinfo",
        )


def _services(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.image:
        return
    kubelet = draft.kubelet
    if kubelet.installed and not kubelet.running and kubelet.unit_state in ("inactive", None):
        yield Refusal(
            "kubelet-not-running",
            "kubelet.service does not run, so the values in force cannot be told",
            "Start it (systemctl start kubelet), or find out who stopped it.",
        )


def _runtime_silent(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if draft.facts.image or runtime.running or not runtime.installed:
        return
    said = f"{runtime.name} does not answer at {runtime.endpoint}"
    if runtime.name == "containerd" and not _takes_cri_back(draft):
        yield Refusal(
            "containerd-not-answering",
            said,
            "See journalctl -u containerd; a disabled CRI plugin or a broken config.toml are the usual causes.",
        )
    elif runtime.name == "cri-o":
        yield Refusal(
            "crio-not-answering",
            said,
            "See journalctl -u crio; it reads every file of crio.conf.d, and one that it does not take keeps it from"
            " starting.",
        )


def _takes_cri_back(draft: PlanDraft) -> bool:
    """Why containerd does not answer is known, and the plan puts it right."""
    return any(change.path and change.setting == "disabled_plugins" for change in draft.runtime_changes)


def _rendered_with_pods(draft: PlanDraft) -> Iterator[Refusal]:
    """k3s and RKE2 end with the containerd that they started, so nobody is left to stop a sandbox over CRI."""
    if not draft.facts.layout.regenerated or not draft.facts.pods.sandboxes:
        return
    found = [each for each in draft.runtime_changes if not location_obstacle(draft.facts, each)]
    disruptive = [each for each in found if Impact.DRAIN in each.needs]
    if disruptive:
        name = draft.facts.layout.name
        yield Refusal(
            "embedded-needs-empty-node",
            f"{name} starts kubelet and containerd itself, and with pods on the node this cannot be done:"
            f" {'; '.join(map(str, disruptive))}",
            f"Write the settings with containerd_config, drain the node, stop all with {name}-killall.sh and start"
            f" {name} again.",
        )


RULES: tuple[Rule, ...] = (_pid1, _cgroup_mode, _services, _runtime_silent, _rendered_with_pods)
