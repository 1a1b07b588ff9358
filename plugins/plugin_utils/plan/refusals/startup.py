# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet would not start with: the rules of the findings, asked of the node as the profile would leave it."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...findings.model import Effect, Finding
from ...findings.model import Rule as FindingRule
from ...findings.rules import (
    cgroup_version,
    cpus,
    feature_gates,
    kubelet,
    kubelet_flags,
    kubelet_ranges,
    memory_manager,
    memory_qos,
    reservations,
)
from ...findings.rules import resource_managers as managers
from ...profile.kubelet_fields import FIELDS
from ..change_set import Refusal
from ..desired_state import SOURCE
from ..draft import PlanDraft
from .model import Rule

ASKED: tuple[FindingRule, ...] = (
    *kubelet_flags.RULES,
    *kubelet_ranges.RULES,
    *managers.RULES,
    *memory_manager.RULES,
    *feature_gates.RULES,
    *cpus.RULES,
    *reservations.RULES,
    memory_qos.reservation_refused,
    memory_qos.factor_refused,
    cgroup_version.single_process_oom_kill,
    kubelet.v1_refused,
)


def _named(finding: Finding) -> tuple[str, ...]:
    """The profile's options that the finding quotes."""
    quoted = {line.split(" = ", 1)[0] for line in finding.evidence if line.endswith(f"({SOURCE})")}
    return tuple(field.option for field in FIELDS if field.key in quoted)


def _refused(finding: Finding, facts: NodeFacts) -> Refusal:
    options = _named(finding)
    path, version = facts.kubelet.config.path, f"kubelet {facts.kubelet.version or 'of unknown version'}"
    in_file = any(line.endswith(f"({path})") for line in finding.evidence)
    return Refusal(
        finding.code,
        f"{finding.summary.rstrip('.')} ({version}): {'; '.join(finding.evidence)}",
        finding.remedy,
        file=path if in_file or not options else None,
        variable=", ".join(options) or None,
    )


def _startup(draft: PlanDraft) -> Iterator[Refusal]:
    """Whoever is to blame, kubelet is restarted only where it can start; of the rest only what the profile asks for."""
    if not draft.desired:
        return
    after = draft.node_after
    for rule in ASKED:
        for finding in rule(after):
            if finding.effect is Effect.LATENT or _named(finding):
                yield _refused(finding, draft.facts)


RULES: tuple[Rule, ...] = (_startup,)
