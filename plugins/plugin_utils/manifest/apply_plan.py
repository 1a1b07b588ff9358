# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the changes that a manifest needs in the observed state of a cluster."""

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
"""The next installation does not undo what the role scheduler writes to Volcano's ConfigMap."""


@dataclass(frozen=True)
class ManifestPlan:
    """Requests in their order. ``preserved``: fields that other clients changed, which stay. ``remaining``: objects."""

    changes: tuple[ObjectChange, ...] = ()
    inventory: Inventory = field(default_factory=Inventory)
    preserved: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


@dataclass
class _PlanBuilder:
    """The plan so far. ``foreign``: objects not created from the manifest; ``conflicts``: fields that both changed."""

    name: str
    adopt: bool
    changes: list[ObjectChange] = field(default_factory=list)
    owned: list[Ref] = field(default_factory=list)
    preserved: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def plan_apply(document: ManifestDocument, state: ManifestState, name: str, path: str, *, adopt: bool) -> ManifestPlan:
    """The plan; ClusterError with all reasons against it, before the first change."""
    items = with_namespaces(document, state)
    _check_served(items, state, path)
    builder = _PlanBuilder(name, adopt)
    for item in items:
        _plan_item(item, items, state, builder)
    _check_conflicts(builder)
    refs = merge_refs(state.inventory.refs, builder.owned)
    desired_keys = {item.ref.key for item in items}
    remaining = tuple(
        f"{ref.place}: the manifest does not have it any more"
        for ref in state.inventory.refs
        if ref.key not in desired_keys and state.live(ref) is not None
    )
    return ManifestPlan(
        tuple(builder.changes), replace(state.inventory, refs=refs), tuple(builder.preserved), remaining
    )


def with_namespaces(document: ManifestDocument, state: ManifestState) -> tuple[ManifestItem, ...]:
    """The manifest's objects, and the namespaces that it uses and that do not exist."""
    own = {item.ref.name for item in document.items if item.ref.kind == "Namespace"}
    named = dict.fromkeys(item.ref.namespace for item in document.items if item.ref.namespace)
    missing = [namespace for namespace in named if namespace not in own and needs_namespace(state, namespace)]
    namespaces = [
        ManifestItem(0, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for namespace in missing
    ]
    return tuple(sorted((*namespaces, *document.items), key=lambda item: apply_rank(item.ref)))


def needs_namespace(state: ManifestState, namespace: str) -> bool:
    return state.live(Ref("v1", "Namespace", namespace)) is None or _is_managed_namespace(state, namespace)


def _is_managed_namespace(state: ManifestState, namespace: str) -> bool:
    """Whether the collection created the namespace for this manifest: it stays, though it is not in the manifest."""
    return state.inventory.has(Ref("v1", "Namespace", namespace))


def _check_served(items: Iterable[ManifestItem], state: ManifestState, path: str) -> None:
    own = {sort for item in items for sort in _defined_kinds(item.manifest)}
    unserved = [
        f"{path}:{item.line}: {item.ref.kind} in {item.ref.api_version}"
        for item in items
        if item.ref.key in state.unserved and (item.ref.api_version, item.ref.kind) not in own
    ]
    if unserved:
        raise ClusterError(
            f"The API server does not serve {', '.join(unserved)}",
            "Nothing was changed. Use a manifest for this release of Kubernetes, or install what defines the kinds.",
        )


def _defined_kinds(manifest: Object) -> list[tuple[str, str]]:
    """(apiVersion, kind) of the custom resources that a CRD defines."""
    if manifest["kind"] != "CustomResourceDefinition":
        return []
    spec = manifest["spec"]
    return [(f"{spec['group']}/{version}", spec["names"]["kind"]) for version in served_versions(manifest)]


def _plan_item(
    item: ManifestItem, items: tuple[ManifestItem, ...], state: ManifestState, builder: _PlanBuilder
) -> None:
    manifest, ref = item.manifest, item.ref
    live = state.live(ref)
    if live is None:
        if is_job(ref) and state.inventory.jobs.get(ref.place) == fingerprint(manifest):
            builder.owned.append(ref)
            return
        builder.changes.append(create_change(manifest, builder.name, dry=_can_dry_run(item, items, state)))
        builder.owned.append(ref)
    elif owner_of(live) == builder.name:
        builder.owned.append(ref)
        _update_managed(item, live, builder)
    elif not covers(comparable_fields(live), comparable_fields(manifest), MERGE_RULES.absent):
        _adopt_or_refuse(item, live, builder)


def _can_dry_run(item: ManifestItem, items: tuple[ManifestItem, ...], state: ManifestState) -> bool:
    """Whether the creation can be a dry run: it cannot if it needs an object that the same run creates."""
    ref = item.ref
    if ref.namespace and state.live(Ref("v1", "Namespace", ref.namespace)) is None:
        return False
    if ref.kind in BINDING_KINDS:
        role = item.manifest.get("roleRef") or {}
        names = {(other.ref.kind, other.ref.name) for other in items if state.live(other.ref) is None}
        return (role.get("kind"), role.get("name")) not in names
    return ref.key not in state.unserved


def _update_managed(item: ManifestItem, live: Object, builder: _PlanBuilder) -> None:
    desired, last = comparable_fields(item.manifest), last_applied_fields(live)
    if is_job(item.ref):
        if desired != last:
            _replace_job(item, live, builder)
        return
    merged = merge(comparable_fields(live), desired, last, MERGE_RULES)
    _collect_conflicts(item.ref, merged, builder)
    if merged.change or desired != last:
        builder.changes.append(
            update_change(live, item.manifest, merged.change, builder.name, adopted=is_adopted(live))
        )


def _replace_job(item: ManifestItem, live: Object, builder: _PlanBuilder) -> None:
    """Delete and create the Job: its pod cannot be changed (kubernetes pkg/apis/batch/validation/validation.go)."""
    builder.changes += [delete_change(live), create_change(item.manifest, builder.name, dry=False)]


def is_job(ref: Ref) -> bool:
    return (ref.group, ref.kind) == ("batch", "Job")


def _collect_conflicts(ref: Ref, merged: MergeResult, builder: _PlanBuilder) -> None:
    builder.preserved += [f"{ref.place}: {path}" for path in merged.preserved]
    if not builder.adopt:
        builder.conflicts += [f"{ref.place}: {path}" for path in merged.conflicts]


def _adopt_or_refuse(item: ManifestItem, live: Object, builder: _PlanBuilder) -> None:
    if not builder.adopt:
        builder.foreign.append(item.ref.place)
        return
    builder.owned.append(item.ref)
    if is_job(item.ref):
        _replace_job(item, live, builder)
        return
    merged = merge(comparable_fields(live), comparable_fields(item.manifest), {}, MERGE_RULES)
    builder.changes.append(update_change(live, item.manifest, merged.change, builder.name, adopted=True))


def _check_conflicts(builder: _PlanBuilder) -> None:
    if builder.foreign:
        raise ClusterError(
            f"Existing objects differ from the manifest and were not created from it: {', '.join(builder.foreign)}",
            "Nothing was changed. Remove them with the tool that created them, or set colocation_volcano_adopt: true"
            " to change them to the manifest and manage them.",
        )
    if builder.conflicts:
        raise ClusterError(
            f"The manifest changes fields that another client changed too: {', '.join(builder.conflicts)}",
            "Nothing was changed. Restore these fields first (the role's entry restore does so for the scheduler's"
            " ConfigMap), or set colocation_volcano_adopt: true to overwrite them.",
        )


def job_fingerprints(items: Iterable[ManifestItem], known: Mapping[str, str]) -> dict[str, str]:
    """The fingerprints of all Jobs of a manifest, to be recorded when the Jobs are done."""
    done = {item.ref.place: fingerprint(item.manifest) for item in items if is_job(item.ref)}
    return {**known, **done}
