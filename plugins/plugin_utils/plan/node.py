# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node: everything that differs, split by what the user allows."""

from __future__ import annotations

from dataclasses import replace

from ..facts.model import NodeFacts
from ..profile import Profile
from .kubelet import kubelet_changes
from .kubelet_after import resolved
from .model import Change, Need, Plan, Refusal
from .partial import held_back
from .pods import pod_changes
from .recovery import recovery_plan
from .refusals.catalogue import refusals
from .runtime import runtime_changes, skips


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


def make_plan(facts: NodeFacts, profile: Profile, *, allow_disruption: bool | None) -> Plan:
    """Plan for a node. ``allow_disruption``: True do it, False leave it pending, None refuse and explain."""
    recovery = recovery_plan(facts)
    if recovery:
        return recovery
    profile = resolved(facts, profile)
    refused = refusals(facts, profile)
    skipped = skips(facts, profile)
    if refused:
        return Plan(refusals=refused, skipped=skipped)
    found = kubelet_changes(facts, profile) + runtime_changes(facts, profile) + pod_changes(facts, profile)
    changes = tuple(_drained_as_is(facts, change) for change in found)
    disruptive = tuple(change for change in changes if Need.DRAIN in change.needs)
    if allow_disruption or not disruptive:
        return Plan(changes=changes, skipped=skipped)
    if allow_disruption is None:
        return Plan(refusals=(_needs_permission(disruptive, facts.pods.sandboxes),), skipped=skipped)
    quiet = tuple(change for change in changes if Need.DRAIN not in change.needs)
    waiting = held_back(facts, profile, quiet, disruptive)
    return Plan(
        changes=tuple(change for change in quiet if change not in waiting),
        pending=(*disruptive, *waiting),
        skipped=skipped,
    )
