# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node is refused whatever the profile: it is none of ours, or it cannot tell what is in force."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import CgroupMode, NodeFacts
from ...profile import Profile
from ..model import Refusal
from .model import Rule

SILENT = {
    "containerd": "a disabled CRI plugin or a broken config.toml are the usual causes.",
    "cri-o": "it reads every file of crio.conf.d, and one that it does not take keeps it from starting.",
}
"""By runtime: what usually keeps it from answering."""


def _pid1(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.pid1 != "systemd":
        yield Refusal(
            "pid1-not-systemd",
            f"PID 1 of this node is {facts.pid1 or 'unknown'}, not systemd",
            "Run against the node itself, not a container on it; nodes without systemd are not supported.",
        )


def _cgroup_mode(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.cgroup.mode is CgroupMode.UNKNOWN:
        yield Refusal(
            "cgroup-mode-unknown",
            f"the cgroup mode cannot be told: {facts.cgroup.reason}",
            "Mount cgroups as the distribution does and reboot; guessing a version would put limits nowhere.",
            file="/proc/self/mountinfo",
        )


def _services(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.kubelet.installed and not facts.kubelet.running and facts.kubelet.unit_state in ("inactive", None):
        yield Refusal(
            "kubelet-not-running",
            "kubelet.service does not run, so the values in force cannot be told",
            "Start it (systemctl start kubelet), or find out who stopped it.",
        )
    if facts.runtime.name in SILENT and facts.runtime.installed and not facts.runtime.running:
        yield Refusal(
            f"{facts.runtime.unit}-not-answering",
            f"{facts.runtime.name} does not answer at {facts.runtime.endpoint}",
            f"See journalctl -u {facts.runtime.unit}; {SILENT[facts.runtime.name]}",
        )


RULES: tuple[Rule, ...] = (_pid1, _cgroup_mode, _services)
