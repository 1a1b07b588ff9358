# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node: all differences, refusals by the rules, and what the user allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, reserved_paths, slice_of
from ..facts.node_state import NodeFacts
from ..plan.change_set import Change, Impact, Plan, Refusal
from ..plan.desired_state import drivers_after, resolve_profile
from ..plan.draft import PlanDraft, unsupported_settings
from ..plan.kubeadm_patch import TARGET as PATCH
from ..plan.kubeadm_patch import unsupported_patch
from ..plan.owner_instructions import owner_instructions
from ..profile.kubelet_fields import FIELDS
from ..profile.node_profile import Profile, with_fields
from ..rules.catalogue import refusals
from ..rules.kubelet_startup import refuse_startup
from ..rules.reservations import NEEDED_V2, missing_parts, required_hierarchies
from ..rules.transaction_records import journal_refusals, ledger_refusals


@dataclass(frozen=True)
class AssumedSlices:
    """``facts`` as if the slices existed; ``slices`` are the names of those that must still be created."""

    facts: NodeFacts
    slices: tuple[str, ...] = ()
    driver: Driver | None = None

    def to_result(self) -> dict[str, Any]:
        """The assumption in the result of node_align."""
        return {"slices": list(self.slices), "cgroup_driver": self.driver.value if self.driver else None}


def assume_slices(facts: NodeFacts, profile: Profile) -> AssumedSlices:
    """The node with the slices that the profile names. A name that is not a slice under its driver changes nothing."""
    driver = drivers_after(facts, profile).kubelet
    missing = {path: name for path, name in _reserved_slices(profile, driver) if missing_parts(facts, path)}
    if not missing:
        return AssumedSlices(facts, driver=driver)
    everywhere = tuple(sorted(required_hierarchies(facts)))
    offered = tuple(name for name in NEEDED_V2 if name in facts.cgroup.controllers)
    cgroup = replace(
        facts.cgroup,
        reserved={**(facts.cgroup.reserved or {}), **dict.fromkeys(missing, everywhere)},
        reserved_controllers={**facts.cgroup.reserved_controllers, **dict.fromkeys(missing, offered)},
    )
    return AssumedSlices(replace(facts, cgroup=cgroup), tuple(missing.values()), driver)


def _reserved_slices(profile: Profile, driver: Driver | None) -> Iterator[tuple[str, str]]:
    """(path below the root of a hierarchy, name) of each slice."""
    for cgroup in profile.reserved_cgroups:
        name = slice_of(cgroup, driver) if driver else ""
        if name:
            yield reserved_paths(cgroup)[-1], name


RECOVERY_ENDS = {
    "undo": ("rolled back", "it is rolled back first, then the node is read again"),
    "finish": ("finished", "it continues at the step where it ended, then the node is read again"),
    "stop": ("unchanged", "neither it nor the node is changed"),
}


def recovery_plan(facts: NodeFacts, recover: str) -> Plan | None:
    """The plan of a node with unfinished transactions; None for other nodes."""
    if not facts.unfinished_transactions:
        return None
    listed = ", ".join(facts.unfinished_transactions)
    end, consequence = RECOVERY_ENDS[recover]
    reason = f"{listed} was interrupted; {consequence}"
    return Plan(changes=(Change("transaction", "unfinished", listed, end, reason, frozenset()),))


KUBELET_TARGETS = ("kubelet", "kubelet flag")


def _without_entry(profile: Profile, option: str, keys: tuple[str, ...]) -> Profile:
    value = profile.kubelet.get(option)
    remaining: dict[str, Any] | None = None
    if len(keys) == 2 and isinstance(value, Mapping):
        remaining = {name: entry for name, entry in value.items() if name != keys[1]}
    return with_fields(profile, {option: remaining})


def _without_pending(profile: Profile, pending: Iterable[Change]) -> Profile:
    options = {field.key: field.option for field in FIELDS}
    for change in pending:
        if change.target in KUBELET_TARGETS and change.keys:
            profile = _without_entry(profile, options[change.keys[0]], change.keys)
    return profile


def deferred_changes(draft: PlanDraft, quiet: tuple[Change, ...], pending: tuple[Change, ...]) -> tuple[Change, ...]:
    """The quiet changes that must wait for the pending ones, because kubelet would not start with them alone."""
    draft_without_pending = PlanDraft(draft.facts, _without_pending(draft.profile, pending))
    if not refusals(draft_without_pending, (refuse_startup,)):
        return ()
    return tuple(change for change in quiet if change.target in KUBELET_TARGETS)


def _without_needless_drain(pods: int, change: Change) -> Change:
    """The change without a drain if the node has no pods."""
    return change if pods else replace(change, needs=change.needs - {Impact.DRAIN})


def _needs_permission(changes: tuple[Change, ...], pods: int) -> Refusal:
    listed = "; ".join(str(change) for change in changes)
    return Refusal(
        "needs-disruption",
        f"{pods} pod(s) run on this node, and these changes stop and recreate them: {listed}",
        "Set colocation_allow_disruption to true to apply them one node at a time,"
        " or to false to apply only changes that do not disturb pods and to report the others as pending.",
        variable="allow_disruption",
    )


def _plan_of_location(draft: PlanDraft) -> Plan:
    """A plan without changes: only what it reports whatever is changed on the node."""
    location = draft.kubelet_location
    skipped = unsupported_settings(draft.facts, draft.profile) + unsupported_patch(draft)
    if isinstance(location, Refusal):
        return Plan(skipped=skipped)
    return Plan(
        skipped=skipped,
        strategy=location.strategy.value,
        paths=location.paths,
        owners=owner_instructions(draft),
    )


def _deferred_patches(quiet: tuple[Change, ...], disruptive: tuple[Change, ...]) -> tuple[Change, ...]:
    """Patches of deferred settings: kubeadm's next upgrade must not apply these settings either."""
    waiting = {change.keys for change in disruptive}
    return tuple(change for change in quiet if change.target == PATCH and change.keys in waiting)


def _if_it_can_begin(facts: NodeFacts, plan: Plan) -> Plan:
    """The plan, or its refusal if the engine would not begin a change."""
    refused = ledger_refusals(facts) if plan.changes or plan.refusals else ()
    return replace(plan, changes=(), refusals=(*plan.obstacles, *refused), permission=None) if refused else plan


def make_plan(facts: NodeFacts, profile: Profile, *, allow_disruption: bool | None, recover: str = "undo") -> Plan:
    """Plan for a node. ``allow_disruption``: True applies disruptive changes, False leaves them pending, None refuses.

    ``recover``: what to do with an interrupted transaction.
    """
    blocked = journal_refusals(facts)
    if blocked:
        return Plan(refusals=blocked)
    recovery = recovery_plan(facts, recover)
    if recovery:
        return recovery
    draft = PlanDraft(facts, resolve_profile(facts, profile))
    return _if_it_can_begin(facts, _plan_draft(draft, allow_disruption=allow_disruption))


def _plan_draft(draft: PlanDraft, *, allow_disruption: bool | None) -> Plan:
    refused, base = refusals(draft), _plan_of_location(draft)
    if refused:
        return replace(base, refusals=refused)
    pods = draft.facts.pods.sandboxes
    changes = tuple(_without_needless_drain(pods, change) for change in draft.changes)
    disruptive = tuple(change for change in changes if Impact.DRAIN in change.needs)
    if allow_disruption or not disruptive:
        return replace(base, changes=changes)
    if allow_disruption is None:
        return replace(base, changes=changes, permission=_needs_permission(disruptive, pods))
    quiet = tuple(change for change in changes if Impact.DRAIN not in change.needs)
    deferred = deferred_changes(draft, quiet, disruptive)
    waiting = deferred + _deferred_patches(quiet, disruptive + deferred)
    changes_now = tuple(change for change in quiet if change not in waiting)
    return replace(base, changes=changes_now, pending=(*disruptive, *waiting))
