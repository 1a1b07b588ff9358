# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removing what was made from a manifest, in the opposite order; what was there before stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..kube.api_errors import ClusterError
from ..kube.object_changes import ObjectChange
from ..kube.objects import Object, ObjectKey, Ref
from .apply_order import Stage, apply_rank, stage_of
from .apply_plan import ManifestPlan
from .container_images import pod_spec
from .inventory import Inventory, ManifestState
from .managed_objects import delete_change, is_adopted, owner_of, release_change

_ELECTION = "control-plane.alpha.kubernetes.io/leader"


@dataclass(frozen=True)
class RemovalOptions:
    """``crds`` go with all their custom resources; ``in_use``: even while there are Volcano's Jobs and PodGroups."""

    crds: bool = False
    in_use: bool = False


def plan_removal(seen: ManifestState, name: str, permission: RemovalOptions) -> ManifestPlan:
    """What goes; ClusterError where it is still in use."""
    if seen.in_use and not permission.in_use:
        first = ", ".join(each.place for each in seen.in_use[:3])
        raise ClusterError(
            f"Volcano has work: {len(seen.in_use)} Jobs and PodGroups, such as {first}",
            "Nothing was changed. Let them end or delete them, or set colocation_volcano_remove_in_use: true; nobody"
            " schedules them then.",
        )
    ours = {each.key: live for each in seen.inventory.refs if (live := _managed_object(each, seen, name))}
    changes: list[ObjectChange] = []
    left: list[str] = []
    stays: list[Ref] = []
    for ref in sorted(seen.inventory.refs, key=apply_rank, reverse=True):
        live = ours.get(ref.key)
        if live is None:
            if seen.found(ref) is not None:
                left.append(f"{ref.place}: it is not ours any more")
        elif is_adopted(live):
            changes.append(release_change(live))
            left.append(f"{ref.place}: it was there before")
        elif reason := _retention_reason(ref, seen, ours, permission):
            left.append(f"{ref.place}: {reason}")
            stays.append(ref)
        else:
            changes.append(delete_change(live))
    refs = tuple(each for each in seen.inventory.refs if each in stays)
    return ManifestPlan(tuple(changes), Inventory(refs), left=tuple(left))


def _managed_object(ref: Ref, seen: ManifestState, name: str) -> Object | None:
    live = seen.found(ref)
    return live if live is not None and owner_of(live) == name else None


def _retention_reason(
    ref: Ref, seen: ManifestState, ours: Mapping[ObjectKey, Object], permission: RemovalOptions
) -> str:
    if stage_of(ref) is Stage.CRDS and not permission.crds:
        return "its custom resources would go with it (colocation_volcano_remove_crds)"
    if stage_of(ref) is Stage.NAMESPACES:
        others = list(_foreign_contents(ref.name, seen.residents, ours))
        if others:
            return f"it also has {', '.join(others[:5])}" + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    return ""


def _foreign_contents(namespace: str, residents: Iterable[Object], ours: Mapping[ObjectKey, Object]) -> Iterator[str]:
    """What is in a namespace beside what we made, what our workloads made and what the server makes itself."""
    mounted = {
        (volume.get("secret") or {}).get("secretName")
        for live in ours.values()
        if live["metadata"].get("namespace") == namespace
        for volume in pod_spec(live).get("volumes") or ()
    }
    for each in residents:
        ref = Ref.of(each)
        taken = ref.key in ours and not is_adopted(each)
        generated = ref.kind == "Secret" and ref.name in mounted
        if ref.namespace == namespace and not (taken or generated or _is_server_made(each)):
            yield f"{ref.kind} {ref.name}"


def _is_server_made(resident: Object) -> bool:
    metadata = resident["metadata"]
    if metadata.get("ownerReferences") or _ELECTION in (metadata.get("annotations") or {}):
        return True
    if resident["kind"] == "ConfigMap":
        return bool(metadata["name"] in ("kube-root-ca.crt", "openshift-service-ca.crt"))
    return resident["kind"] == "Secret" and resident.get("type") == "kubernetes.io/service-account-token"
