# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from a cluster for a manifest, and how changes are applied and waited for in stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..kube.dynamic_client import Client
from ..kube.identity import cluster_uid
from ..kube.last_applied import record_change
from ..kube.object_changes import ObjectChange, Operation, apply_change, apply_changes
from ..kube.objects import Object, Ref
from ..kube.wait import CRD, WaitOptions, wait_until_ready
from ..scheduler.installed_volcano import served_versions
from .apply_order import NAMESPACE_CONTENT_KINDS, WORKLOAD_CRDS, Stage, stage_of
from .inventory import Inventory, ManifestState, inventory_ref, parse_inventory
from .managed_objects import is_adopted, owner_of
from .yaml_documents import ManifestDocument

WAIT_REMEDY = (
    "It stays as it is, and a further run goes on from here. Correct what is reported, or give it more time with"
    " colocation_volcano_timeout."
)
_WAIT_FOR_DELETION = (Stage.NAMESPACES, Stage.CRDS, Stage.WORKLOADS)


@dataclass(frozen=True)
class ManifestCluster:
    """One cluster, and what of it a manifest is about."""

    client: Client

    def look(self, name: str, document: ManifestDocument) -> ManifestState:
        """The manifest's objects and those of the inventory, as they are now."""
        uid = cluster_uid(self.client)
        kept = self.client.find(inventory_ref(name))
        inventory = parse_inventory(kept)
        spaces = [Ref("v1", "Namespace", each.ref.namespace) for each in document.items if each.ref.namespace]
        refs = {each.key: each for each in (*inventory.refs, *spaces, *(each.ref for each in document.items))}
        found = {every: self._seen(ref) for every, ref in refs.items()}
        objects = {every: live for every, (live, _served) in found.items() if live is not None}
        unserved = frozenset(every for every, (_live, served) in found.items() if not served)
        return ManifestState(uid, inventory, _version(kept), objects, unserved)

    def read_recorded_state(self, name: str) -> ManifestState:
        """What the inventory names, who uses it, and what else is in its namespaces."""
        uid = cluster_uid(self.client)
        kept = self.client.find(inventory_ref(name))
        inventory = parse_inventory(kept)
        found = {ref.key: self._seen(ref)[0] for ref in inventory.refs}
        objects = {every: live for every, live in found.items() if live is not None}
        ours = [live for live in objects.values() if owner_of(live) == name and not is_adopted(live)]
        return ManifestState(
            uid,
            inventory,
            _version(kept),
            objects,
            in_use=tuple(self._users(ours)),
            residents=tuple(self._residents(ours)),
        )

    def _seen(self, ref: Ref) -> tuple[Object | None, bool]:
        """(the object, whether the server has its API in this version)."""
        found = self.client.find(ref)
        return found, found is not None or self.client.serves(ref.api_version, ref.kind)

    def _users(self, ours: Iterable[Object]) -> Iterator[Ref]:
        """Volcano's Jobs and PodGroups, where its CRDs are ours."""
        for each in ours:
            name = each["metadata"]["name"]
            if each["kind"] == CRD and name in WORKLOAD_CRDS:
                group, kind = WORKLOAD_CRDS[name]
                version = next(iter(served_versions(each)), "")
                yield from map(Ref.of, self.client.list_objects(f"{group}/{version}", kind) or ())

    def _residents(self, ours: Iterable[Object]) -> Iterator[Object]:
        for each in ours:
            if each["kind"] == "Namespace":
                name = each["metadata"]["name"]
                for api, kind in NAMESPACE_CONTENT_KINDS:
                    yield from self.client.list_objects(api, kind, namespace=name) or ()

    def note(self, name: str, inventory: Inventory, version: str | None) -> str | None:
        """Write the inventory, if it is still as it was read; its new version."""
        return _version(apply_change(self.client, record_change(inventory_ref(name), inventory.written(), version)))

    def take_away(self, name: str) -> None:
        """The inventory."""
        self.client.delete(inventory_ref(name))

    def apply(self, changes: Sequence[ObjectChange], workloads: Iterable[Ref], options: WaitOptions) -> None:
        """Apply changes in their order, and wait until these workloads run; ClusterError with what keeps them from it.

        A deletion that takes others along is waited for, so that nothing is left afterwards.
        """

        def wait(change: ObjectChange) -> WaitOptions | None:
            lingers = change.operation is Operation.DELETE and stage_of(change.ref) in _WAIT_FOR_DELETION
            return options if lingers else None

        apply_changes(self.client, changes, wait, _Stages(self.client, changes, workloads, options).settle)


class _Stages:
    """What a stage needs of the stages before it: CRDs that are served, and for webhooks that their server answers."""

    def __init__(
        self, client: Client, changes: Iterable[ObjectChange], workloads: Iterable[Ref], options: WaitOptions
    ) -> None:
        crds = [each.ref for each in changes if each.ref.kind == CRD and each.operation is not Operation.DELETE]
        self._awaited = {Stage.CRDS: crds, Stage.WORKLOADS: list(workloads)}
        self._client, self._options = client, options

    def settle(self, change: ObjectChange | None) -> None:
        for earlier, refs in self._awaited.items():
            if change is None or stage_of(change.ref) > earlier:
                wait_until_ready(self._client, refs, self._options, WAIT_REMEDY)
                self._awaited[earlier] = []


def _version(found: Object | None) -> str | None:
    return ((found or {}).get("metadata") or {}).get("resourceVersion")
