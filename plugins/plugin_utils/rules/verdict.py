# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on a node, from its findings and from what the profile would still change."""

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


NOT_OURS = ("runtime-unsupported", "kubelet-inside-other-process", "kubelet-arguments-only")
"""Refusals that say nothing of the node, only that its kind is not changed by this release."""


def profile_findings(plan: Plan, remedy: str) -> tuple[Finding, ...]:
    """What the plan says of a node as findings: what differs, with its remedy, and why it could not be put right."""
    differing = plan.changes + plan.pending
    found = [_noted(each) if each.code in NOT_OURS else _misaligned(each) for each in plan.refusals]
    if differing:
        found.append(
            Finding(
                DRIFT,
                Severity.ERROR,
                Effect.MISALIGNED,
                f"{len(differing)} setting(s) differ from the profile.",
                tuple(str(change) for change in differing),
                remedy,
            )
        )
    found += [_owner(each, paths) for each in plan.owners if (paths := overwritten_files(each, differing))]
    return tuple(found)


def _misaligned(refusal: Refusal) -> Finding:
    return Finding(REFUSED, Severity.ERROR, Effect.MISALIGNED, f"{refusal.reason}.", (refusal.code,), refusal.remedy)


def _noted(refusal: Refusal) -> Finding:
    return Finding(REFUSED, Severity.INFO, Effect.NONE, f"{refusal.reason}.", (refusal.code,), refusal.remedy)


def _owner(handout: OwnerInstructions, paths: tuple[str, ...]) -> Finding:
    values = [f"{name}: {json.dumps(value)}" for name, value in handout.variables.items()]
    told = ", ".join((*values, *handout.files))
    return Finding(
        OWNER,
        Severity.WARNING,
        Effect.NONE,
        f"{handout.owner} makes files anew that the profile changes.",
        paths,
        f"Tell it too, owner_instructions has the texts: {told}." if told else handout.note,
    )


def all_findings(facts: NodeFacts, plan: Plan) -> tuple[Finding, ...]:
    """What is wrong with a node by itself, then against the profile. Of what is no node, the profile says nothing."""
    own = findings(facts)
    if judge(own) in (Verdict.UNSUPPORTED, Verdict.UNKNOWN):
        return own
    return own + profile_findings(plan, WRITE_IMAGE if facts.image else PROVISION)


def own_findings(facts: NodeFacts, plan: Plan) -> tuple[Finding, ...]:
    """What is wrong with a node by itself; ``plan``, of a profile without values, only notes what would be refused."""
    own = findings(facts)
    if judge(own) in (Verdict.UNSUPPORTED, Verdict.UNKNOWN):
        return own
    known = {each.code for each in own}
    return own + tuple(_noted(each) for each in plan.refusals if each.code not in known)


def judge(found: Iterable[Finding]) -> Verdict:
    """The worst effect of all findings; none at all is aligned."""
    effects = {finding.effect for finding in found}
    return next((verdict for effect, verdict in _WORST_FIRST if effect in effects), Verdict.ALIGNED)
