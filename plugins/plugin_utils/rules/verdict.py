# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on a node, from its findings and from the changes that the profile would still make."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..facts.node_state import NodeFacts
from ..plan.change_set import OwnerInstructions, Plan, Refusal
from ..plan.owner_instructions import overwritten_files
from .catalogue import findings
from .rule_types import Effect, Finding, Severity, Verdict

_WORST_FIRST = (
    (Effect.UNSUPPORTED, Verdict.UNSUPPORTED),
    (Effect.UNKNOWN, Verdict.UNKNOWN),
    (Effect.MISALIGNED, Verdict.MISALIGNED),
    (Effect.LATENT, Verdict.LATENT),
)


DRIFT = "differs-from-profile"


OWNER = "owner-will-overwrite"


REFUSED = "cannot-be-aligned"


PROVISION = "Provision the node: ansible-playbook volcano.colocation.provision."


WRITE_IMAGE = "Write the image's files: the modules kubelet_config and containerd_config, with its root."


NOT_CHANGED_HERE = ("runtime-unsupported", "kubelet-inside-other-process", "kubelet-arguments-only")
"""Refusals that do not describe a problem of the node: this release does not change nodes of that kind."""


def profile_findings(plan: Plan, remedy: str) -> tuple[Finding, ...]:
    """Findings about a plan: settings that differ from the profile, with ``remedy``, refusals, and owners of files."""
    differing = plan.changes + plan.pending
    results = [
        _as_information(refusal) if refusal.code in NOT_CHANGED_HERE else _misaligned(refusal)
        for refusal in plan.refusals
    ]
    if differing:
        results.append(
            Finding(
                DRIFT,
                Severity.ERROR,
                Effect.MISALIGNED,
                f"{len(differing)} setting(s) differ from the profile.",
                tuple(str(change) for change in differing),
                remedy,
            )
        )
    results += [_owner(owner, paths) for owner in plan.owners if (paths := overwritten_files(owner, differing))]
    return tuple(results)


def _misaligned(refusal: Refusal) -> Finding:
    return _cannot_be_aligned(refusal, Severity.ERROR, Effect.MISALIGNED)


def _as_information(refusal: Refusal) -> Finding:
    return _cannot_be_aligned(refusal, Severity.INFO, Effect.NONE)


def _cannot_be_aligned(refusal: Refusal, severity: Severity, effect: Effect) -> Finding:
    evidence = (f"code of the refusal: {refusal.code}",)
    return Finding(REFUSED, severity, effect, f"{refusal.reason}.", evidence, refusal.remedy)


def _owner(instructions: OwnerInstructions, paths: tuple[str, ...]) -> Finding:
    values = [f"{name}: {json.dumps(value)}" for name, value in instructions.variables.items()]
    settings = ", ".join((*values, *instructions.files))
    return Finding(
        OWNER,
        Severity.WARNING,
        Effect.NONE,
        f"{instructions.owner} regenerates files that the profile changes.",
        paths,
        f"Give it the same settings, owner_instructions has the texts: {settings}." if settings else instructions.note,
    )


def all_findings(facts: NodeFacts, plan: Plan) -> tuple[Finding, ...]:
    """Findings about the node itself, then about the profile; the latter only for a supported node that can be read."""
    own = findings(facts)
    if judge(own) in (Verdict.UNSUPPORTED, Verdict.UNKNOWN):
        return own
    return own + profile_findings(plan, WRITE_IMAGE if facts.image else PROVISION)


def own_findings(facts: NodeFacts, plan: Plan) -> tuple[Finding, ...]:
    """Findings about the node itself; refusals of ``plan``, of a profile without values, are added as information."""
    own = findings(facts)
    if judge(own) in (Verdict.UNSUPPORTED, Verdict.UNKNOWN):
        return own
    known = {finding.code for finding in own}
    return own + tuple(_as_information(refusal) for refusal in plan.refusals if refusal.code not in known)


def judge(results: Iterable[Finding]) -> Verdict:
    """The verdict of the worst effect of all findings; aligned without findings."""
    effects = {finding.effect for finding in results}
    return next((verdict for effect, verdict in _WORST_FIRST if effect in effects), Verdict.ALIGNED)
