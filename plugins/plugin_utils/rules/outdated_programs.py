# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the node that are older than the table of minimum versions allows."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.machine import major_version
from ..facts.node_state import CgroupMode, NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..releases import minimum_versions as minimums
from ..releases.minimum_versions import Minimum
from ..releases.versions import minor
from .rule_types import Effect, Finding, Severity

_FOR_CHANGES = (minimums.KUBELET, minimums.CONTAINERD, minimums.SYSTEMD)
_FOR_V2 = (minimums.KERNEL_V2, minimums.SYSTEMD_V2, minimums.CONTAINERD_V2, minimums.CRIO_V2)
_RUNTIMES = {"containerd": "containerd", "cri-o": "CRI-O"}
"""The program of the table by the runtime's name in the CRI."""


def _versions(facts: NodeFacts) -> dict[str, tuple[str | None, tuple[int, ...] | None]]:
    """The version of each program, as it reports it and as numbers. None: not known."""
    systemd = major_version(facts.systemd.running)
    texts = {"kubelet": facts.kubelet.version, "kernel": facts.kernel}
    if facts.runtime.name in _RUNTIMES:
        texts[_RUNTIMES[facts.runtime.name]] = facts.runtime.version
    return {
        **{program: (text, minor(text)) for program, text in texts.items()},
        "systemd": (facts.systemd.running, None if systemd is None else (systemd,)),
    }


def _outdated(facts: NodeFacts, required: tuple[Minimum, ...]) -> Iterator[str]:
    versions = _versions(facts)
    for minimum in required:
        text, numbers = versions.get(minimum.program, (None, None))
        if numbers is not None and numbers < minimum.version:
            yield f"{minimum.program} {text}, required is {minimum.text}"


def below_v2_minimum(facts: NodeFacts) -> Iterator[Finding]:
    outdated = tuple(_outdated(facts, _FOR_V2)) if facts.cgroup.mode is CgroupMode.V2 else ()
    if outdated:
        yield Finding(
            "below-v2-minimum",
            Severity.WARNING,
            Effect.NONE,
            "The node is older than what Kubernetes requires for cgroup v2.",
            outdated,
            "Upgrade the distribution, or boot with cgroup v1 while kubelet still supports it.",
        )


def version_too_old(facts: NodeFacts) -> Iterator[Finding]:
    outdated = tuple(_outdated(facts, _FOR_CHANGES))
    if outdated:
        yield Finding(
            "version-too-old",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            "The node has programs that are older than the collection supports.",
            outdated,
            "Upgrade them; docs/versions.md lists all minimum versions.",
        )


def refuse_old_programs(draft: PlanDraft) -> Iterator[Refusal]:
    for problem in _outdated(draft.facts, _FOR_CHANGES):
        yield Refusal(
            "version-too-old", problem, "Upgrade it, or exclude the node; docs/versions.md lists all minimum versions."
        )
