# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's cgroup version: whether it is known, and settings that only one version supports."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_state import CgroupMode, NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import FAIL_CGROUP_V1, SINGLE_PROCESS_OOM_KILL
from ..releases.versions import minor
from .evidence import is_true, quote_claims, quote_value, value
from .rule_types import Effect, Finding, Severity


def cgroup_mode_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.mode is CgroupMode.UNKNOWN and not facts.image:
        yield Finding(
            "cgroup-mode-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "The cgroup mode cannot be determined.",
            (facts.cgroup.reason,),
            "Mount cgroups as the distribution does and reboot.",
        )


def single_process_oom_kill(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/apis/config/validation/validation_linux.go, since 1.32."""
    if facts.cgroup.mode not in (CgroupMode.V1, CgroupMode.HYBRID):
        return
    if value(facts, SINGLE_PROCESS_OOM_KILL.key) is False:
        yield Finding(
            "single-process-oom-kill-on-v1",
            Severity.ERROR,
            Effect.LATENT,
            "kubelet does not accept singleProcessOOMKill: false on cgroup v1 and will not start again.",
            (quote_value(facts, SINGLE_PROCESS_OOM_KILL.key), facts.cgroup.reason),
            "Remove singleProcessOOMKill: on cgroup v1 the kernel always kills single processes.",
        )


def cgroup_v1_refused(facts: NodeFacts) -> Iterator[Finding]:
    """validation_linux.go; versions without the field ignore it."""
    version = minor(facts.kubelet.version)
    if facts.cgroup.mode not in (CgroupMode.V1, CgroupMode.HYBRID) or version is None or version < FAIL_CGROUP_V1.since:
        return
    if is_true(value(facts, FAIL_CGROUP_V1.key)):
        yield Finding(
            "cgroup-v1-refused",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet {facts.kubelet.version} does not start on cgroup v1.",
            (facts.cgroup.reason, *(quote_claims(facts, FAIL_CGROUP_V1.key) or ("failCgroupV1 is true by default",))),
            "Boot the node with cgroup v2; until then set failCgroupV1: false, which 1.38 may no longer support.",
        )


def refuse_unknown_cgroup_mode(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.cgroup.mode is CgroupMode.UNKNOWN and not draft.facts.image:
        yield Refusal(
            "cgroup-mode-unknown",
            f"the cgroup mode cannot be determined: {draft.facts.cgroup.reason}",
            "Mount cgroups as the distribution does and reboot; limits for a guessed version might have no effect.",
            file="/proc/self/mountinfo",
        )
