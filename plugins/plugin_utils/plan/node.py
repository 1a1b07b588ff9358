# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node: everything that differs, split by what the user allows."""

from __future__ import annotations

from dataclasses import replace

from ..facts.model import NodeFacts
from ..profile import Profile
from .kubeadm_patch import TARGET as PATCH
from .kubeadm_patch import patch_changes, patch_skip
from .kubelet import kubelet_changes
from .kubelet_after import resolved
from .kubelet_place import Strategy, choose
from .model import Change, Need, Plan, Refusal
from .owner import owners
from .partial import held_back
from .pods import pod_changes
from .recovery import recovery_plan
from .refusals.catalogue import refusals
from .refusals.ledger import journal_refusals, ledger_refusals
from .runtimes import runtime_changes, skips


def _drained_as_is(facts: NodeFacts, change: Change) -> Change:
    """Without a pod there is nobody to disturb."""
    return change if facts.pods.sandboxes else replace(change, needs=change.needs - {Need.DRAIN})


def _needs_permission(changes: tuple[Change, ...], pods: int) -> Refusal:
    listed = "; ".join(str(change) for change in changes)
    return Refusal(
        "needs-disruption",
        f"{pods} pod(s) run here, and these changes stop and recreate them: {listed}",
        "Set allow_disruption (colocation_allow_disruption) to true to do it one node at a time,"
        " or to false to do only what disturbs no pod and have the rest reported as pending.",
        variable="allow_disruption",
    )


def _kubelets_place(facts: NodeFacts, profile: Profile) -> Plan:
    """A plan with nothing but what holds of the node whatever is changed on it."""
    place = choose(facts, Strategy(profile.kubelet_strategy))
    skipped = skips(facts, profile) + patch_skip(facts, profile)
    if isinstance(place, Refusal):
        return Plan(skipped=skipped)
    return Plan(skipped=skipped, strategy=place.strategy.value, paths=place.paths, owners=owners(facts, profile))


def _found(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    kubelet = kubelet_changes(facts, profile) + patch_changes(facts, profile)
    return kubelet + runtime_changes(facts, profile) + pod_changes(facts, profile)


def _patched_later(quiet: tuple[Change, ...], disruptive: tuple[Change, ...]) -> tuple[Change, ...]:
    """What kubelet may not have yet shall not come to it with kubeadm's next upgrade either."""
    waiting = {change.keys for change in disruptive}
    return tuple(change for change in quiet if change.target == PATCH and change.keys in waiting)


def _if_it_can_begin(facts: NodeFacts, plan: Plan) -> Plan:
    """A change that the engine would not begin is none."""
    refused = ledger_refusals(facts) if plan.changes or plan.refusals else ()
    return replace(plan, changes=(), refusals=(*plan.obstacles, *refused), permission=None) if refused else plan


def make_plan(facts: NodeFacts, profile: Profile, *, allow_disruption: bool | None, recover: str = "undo") -> Plan:
    """Plan for a node. ``allow_disruption``: True do it, False leave it pending, None ask for permission.

    ``recover``: what comes of a transaction that was cut off.
    """
    blocked = journal_refusals(facts)
    if blocked:
        return Plan(refusals=blocked)
    recovery = recovery_plan(facts, recover)
    if recovery:
        return recovery
    return _if_it_can_begin(facts, _make(facts, profile, allow_disruption=allow_disruption))


def _make(facts: NodeFacts, profile: Profile, *, allow_disruption: bool | None) -> Plan:
    profile = resolved(facts, profile)
    refused = refusals(facts, profile)
    base = _kubelets_place(facts, profile)
    if refused:
        return replace(base, refusals=refused)
    found = _found(facts, profile)
    changes = tuple(_drained_as_is(facts, change) for change in found)
    disruptive = tuple(change for change in changes if Need.DRAIN in change.needs)
    if allow_disruption or not disruptive:
        return replace(base, changes=changes)
    if allow_disruption is None:
        return replace(base, changes=changes, permission=_needs_permission(disruptive, facts.pods.sandboxes))
    quiet = tuple(change for change in changes if Need.DRAIN not in change.needs)
    held = held_back(facts, profile, quiet, disruptive)
    waiting = held + _patched_later(quiet, disruptive + held)
    kept = tuple(change for change in quiet if change not in waiting)
    return replace(base, changes=kept, pending=(*disruptive, *waiting))
