# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove the objects of a manifest in reverse order; objects that existed before the installation stay."""

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
    """``crds``: remove CRDs and all custom resources. ``in_use``: even while Volcano's Jobs and PodGroups exist."""

    crds: bool = False
    in_use: bool = False


def plan_removal(state: ManifestState, name: str, options: RemovalOptions) -> ManifestPlan:
    """The plan of a removal; ClusterError while the objects are in use."""
    if state.in_use and not options.in_use:
        first = ", ".join(ref.place for ref in state.in_use[:3])
        raise ClusterError(
            f"Volcano is in use: {len(state.in_use)} Jobs and PodGroups exist, for example {first}",
            "Nothing was changed. Let them end or delete them, or set colocation_volcano_remove_in_use: true; they are"
            " not scheduled any more then.",
        )
    managed = {ref.key: live for ref in state.inventory.refs if (live := _managed_object(ref, state, name))}
    changes: list[ObjectChange] = []
    remaining: list[str] = []
    retained: list[Ref] = []
    for ref in sorted(state.inventory.refs, key=apply_rank, reverse=True):
        live = managed.get(ref.key)
        if live is None:
            if state.live(ref) is not None:
                remaining.append(f"{ref.place}: it is not managed any more")
        elif is_adopted(live):
            changes.append(release_change(live))
            remaining.append(f"{ref.place}: it existed before the installation")
        elif reason := _retention_reason(ref, state, managed, options):
            remaining.append(f"{ref.place}: {reason}")
            retained.append(ref)
        else:
            changes.append(delete_change(live))
    refs = tuple(ref for ref in state.inventory.refs if ref in retained)
    return ManifestPlan(tuple(changes), Inventory(refs), remaining=tuple(remaining))


def _managed_object(ref: Ref, state: ManifestState, name: str) -> Object | None:
    live = state.live(ref)
    return live if live is not None and owner_of(live) == name else None


def _retention_reason(
    ref: Ref, state: ManifestState, managed: Mapping[ObjectKey, Object], options: RemovalOptions
) -> str:
    if stage_of(ref) is Stage.CRDS and not options.crds:
        return "its custom resources would be deleted with it (colocation_volcano_remove_crds)"
    if stage_of(ref) is Stage.NAMESPACES:
        foreign = list(_foreign_contents(ref.name, state.residents, managed))
        if foreign:
            return f"it also contains {', '.join(foreign[:5])}" + (
                f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
            )
    return ""


def _foreign_contents(
    namespace: str, residents: Iterable[Object], managed: Mapping[ObjectKey, Object]
) -> Iterator[str]:
    """Objects in a namespace that neither the manifest nor its workloads nor the API server created."""
    mounted = {
        (volume.get("secret") or {}).get("secretName")
        for live in managed.values()
        if live["metadata"].get("namespace") == namespace
        for volume in pod_spec(live).get("volumes") or ()
    }
    for resident in residents:
        ref = Ref.of(resident)
        is_managed = ref.key in managed and not is_adopted(resident)
        generated = ref.kind == "Secret" and ref.name in mounted
        if ref.namespace == namespace and not (is_managed or generated or _is_server_made(resident)):
            yield f"{ref.kind} {ref.name}"


def _is_server_made(resident: Object) -> bool:
    metadata = resident["metadata"]
    if metadata.get("ownerReferences") or _ELECTION in (metadata.get("annotations") or {}):
        return True
    if resident["kind"] == "ConfigMap":
        return bool(metadata["name"] in ("kube-root-ca.crt", "openshift-service-ca.crt"))
    return resident["kind"] == "Secret" and resident.get("type") == "kubernetes.io/service-account-token"
