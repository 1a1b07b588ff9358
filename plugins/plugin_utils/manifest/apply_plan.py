# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a manifest and the observed state to the changes that are needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..kube.api_errors import ClusterError
from ..kube.object_changes import ObjectChange
from ..kube.objects import Object, Ref
from ..kube.three_way_merge import Absent, Drift, MergeResult, MergeRules, covers, merge
from ..scheduler.installed_volcano import served_versions
from .apply_order import BINDING_KINDS, apply_rank
from .inventory import Inventory, ManifestState, merge_refs
from .managed_objects import (
    comparable_fields,
    create_change,
    delete_change,
    fingerprint,
    is_adopted,
    last_applied_fields,
    owner_of,
    update_change,
)
from .yaml_documents import ManifestDocument, ManifestItem

MERGE_RULES = MergeRules(Absent.ZERO, Drift.KEEP)
"""What the scheduler's role writes into Volcano's ConfigMap is not undone by the next installation."""


@dataclass(frozen=True)
class ManifestPlan:
    """Requests in their order. ``kept``: fields that somebody has changed since, which stay. ``left``: what stays."""

    changes: tuple[ObjectChange, ...] = ()
    inventory: Inventory = field(default_factory=Inventory)
    kept: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass
class _PlanBuilder:
    """What has been found so far; ``new`` are objects that a dry run of a later one would need."""

    name: str
    adopt: bool
    changes: list[ObjectChange] = field(default_factory=list)
    owned: list[Ref] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def plan_apply(document: ManifestDocument, seen: ManifestState, name: str, path: str, *, adopt: bool) -> ManifestPlan:
    """The plan; ClusterError with all that stands against it, before the first change."""
    items = with_namespaces(document, seen)
    _check_served(items, seen, path)
    work = _PlanBuilder(name, adopt)
    for each in items:
        _plan_item(each, items, seen, work)
    _check_conflicts(work)
    refs = merge_refs(seen.inventory.refs, work.owned)
    wanted = {each.ref.key for each in items}
    left = tuple(
        f"{each.place}: the manifest has it no longer"
        for each in seen.inventory.refs
        if each.key not in wanted and seen.found(each) is not None
    )
    return ManifestPlan(tuple(work.changes), replace(seen.inventory, refs=refs), tuple(work.kept), left)


def with_namespaces(document: ManifestDocument, seen: ManifestState) -> tuple[ManifestItem, ...]:
    """The manifest's objects, and the namespaces that it takes for granted and nobody has made."""
    own = {each.ref.name for each in document.items if each.ref.kind == "Namespace"}
    named = dict.fromkeys(each.ref.namespace for each in document.items if each.ref.namespace)
    missing = [each for each in named if each not in own and needs_namespace(seen, each)]
    space = [ManifestItem(0, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": each}}) for each in missing]
    return tuple(sorted((*space, *document.items), key=lambda each: apply_rank(each.ref)))


def needs_namespace(seen: ManifestState, namespace: str) -> bool:
    return seen.found(Ref("v1", "Namespace", namespace)) is None or _is_managed_namespace(seen, namespace)


def _is_managed_namespace(seen: ManifestState, namespace: str) -> bool:
    """One that we made for this manifest goes on being wanted, though the manifest does not say it."""
    return seen.inventory.has(Ref("v1", "Namespace", namespace))


def _check_served(items: Iterable[ManifestItem], seen: ManifestState, path: str) -> None:
    own = {sort for each in items for sort in _defined_kinds(each.manifest)}
    lacks = [
        f"{path}:{each.line}: {each.ref.kind} in {each.ref.api_version}"
        for each in items
        if each.ref.key in seen.unserved and (each.ref.api_version, each.ref.kind) not in own
    ]
    if lacks:
        raise ClusterError(
            f"The API server does not have {', '.join(lacks)}",
            "Nothing was changed. Take a manifest that is made for this Kubernetes, or install what defines it first.",
        )


def _defined_kinds(manifest: Object) -> list[tuple[str, str]]:
    """(apiVersion, kind) of the custom resources that a CRD brings."""
    if manifest["kind"] != "CustomResourceDefinition":
        return []
    spec = manifest["spec"]
    return [(f"{spec['group']}/{version}", spec["names"]["kind"]) for version in served_versions(manifest)]


def _plan_item(item: ManifestItem, items: tuple[ManifestItem, ...], seen: ManifestState, work: _PlanBuilder) -> None:
    manifest, ref = item.manifest, item.ref
    live = seen.found(ref)
    if live is None:
        if is_job(ref) and seen.inventory.jobs.get(ref.place) == fingerprint(manifest):
            work.owned.append(ref)
            return
        work.changes.append(create_change(manifest, work.name, dry=_can_be_tried(item, items, seen)))
        work.owned.append(ref)
    elif owner_of(live) == work.name:
        work.owned.append(ref)
        _update_managed(item, live, work)
    elif not covers(comparable_fields(live), comparable_fields(manifest), MERGE_RULES.absent):
        _adopt_or_refuse(item, live, work)


def _can_be_tried(item: ManifestItem, items: tuple[ManifestItem, ...], seen: ManifestState) -> bool:
    """Whether a dry run of making it can be judged: it cannot where it needs what this run only makes."""
    ref = item.ref
    if ref.namespace and seen.found(Ref("v1", "Namespace", ref.namespace)) is None:
        return False
    if ref.kind in BINDING_KINDS:
        role = item.manifest.get("roleRef") or {}
        names = {(each.ref.kind, each.ref.name) for each in items if seen.found(each.ref) is None}
        return (role.get("kind"), role.get("name")) not in names
    return ref.key not in seen.unserved


def _update_managed(item: ManifestItem, live: Object, work: _PlanBuilder) -> None:
    wanted, last = comparable_fields(item.manifest), last_applied_fields(live)
    if is_job(item.ref):
        if wanted != last:
            _replace_job(item, live, work)
        return
    merged = merge(comparable_fields(live), wanted, last, MERGE_RULES)
    _collect_conflicts(item.ref, merged, work)
    if merged.change or wanted != last:
        work.changes.append(update_change(live, item.manifest, merged.change, work.name, adopted=is_adopted(live)))


def _replace_job(item: ManifestItem, live: Object, work: _PlanBuilder) -> None:
    """A Job's pod cannot be changed: kubernetes pkg/apis/batch/validation/validation.go."""
    work.changes += [delete_change(live), create_change(item.manifest, work.name, dry=False)]


def is_job(ref: Ref) -> bool:
    return (ref.group, ref.kind) == ("batch", "Job")


def _collect_conflicts(ref: Ref, merged: MergeResult, work: _PlanBuilder) -> None:
    work.kept += [f"{ref.place}: {each}" for each in merged.preserved]
    if not work.adopt:
        work.conflicts += [f"{ref.place}: {each}" for each in merged.conflicts]


def _adopt_or_refuse(item: ManifestItem, live: Object, work: _PlanBuilder) -> None:
    if not work.adopt:
        work.foreign.append(item.ref.place)
        return
    work.owned.append(item.ref)
    if is_job(item.ref):
        _replace_job(item, live, work)
        return
    merged = merge(comparable_fields(live), comparable_fields(item.manifest), {}, MERGE_RULES)
    work.changes.append(update_change(live, item.manifest, merged.change, work.name, adopted=True))


def _check_conflicts(work: _PlanBuilder) -> None:
    if work.foreign:
        raise ClusterError(
            f"These are there, differ from the manifest and were made by others: {', '.join(work.foreign)}",
            "Nothing was changed. Remove them with what made them, or set colocation_volcano_adopt: true to take them"
            " over as the manifest has them.",
        )
    if work.conflicts:
        raise ClusterError(
            f"The manifest changes what somebody else has changed, too: {', '.join(work.conflicts)}",
            "Nothing was changed. Put these back first (the role's entry restore does so for the scheduler's"
            " ConfigMap), or set colocation_volcano_adopt: true to have them as the manifest says.",
        )


def job_fingerprints(items: Iterable[ManifestItem], known: Mapping[str, str]) -> dict[str, str]:
    """The fingerprints of all Jobs of a manifest, to be noted when they are done."""
    done = {each.ref.place: fingerprint(each.manifest) for each in items if is_job(each.ref)}
    return {**known, **done}
