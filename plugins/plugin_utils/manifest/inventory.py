# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of objects that were created from a manifest, their observed state, and changes of them in stages.

The inventory is a ConfigMap in kube-system. It is written before all objects and deleted after them, so that an
interrupted run loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..kube.dynamic_client import Client
from ..kube.identity import SYSTEM_NAMESPACE, cluster_uid
from ..kube.last_applied import parse_record, record_change, record_data
from ..kube.object_changes import ObjectChange, Operation, apply_change, apply_changes
from ..kube.objects import ConfigMap, Object, ObjectKey, Ref
from ..kube.wait import CRD, WaitOptions, wait_until_ready
from ..scheduler.installed_volcano import served_versions
from .apply_order import NAMESPACE_CONTENT_KINDS, WORKLOAD_CRDS, Stage, stage_of
from .managed_objects import is_adopted, owner_of
from .yaml_documents import ManifestDocument

INVENTORY_KEY = "inventory.json"
WAIT_REMEDY = (
    "It stays as it is, and another run continues from here. Correct what is reported, or increase"
    " colocation_volcano_timeout."
)
_WAIT_FOR_DELETION = (Stage.NAMESPACES, Stage.CRDS, Stage.WORKLOADS)


@dataclass(frozen=True)
class Inventory:
    """``jobs`` has the fingerprints of Jobs that are done: they are not run again, even if a server deleted them."""

    refs: tuple[Ref, ...] = ()
    jobs: Mapping[str, str] = field(default_factory=dict)

    def has(self, ref: Ref) -> bool:
        return any(known.same(ref) for known in self.refs)

    def to_data(self) -> dict[str, str]:
        """The ConfigMap's data."""
        return record_data(INVENTORY_KEY, {"objects": [asdict(entry) for entry in self.refs], "jobs": dict(self.jobs)})


def inventory_ref(name: str) -> Ref:
    """The ConfigMap with the inventory of a manifest."""
    return Ref("v1", "ConfigMap", f"volcano-colocation-manifest-{name}", SYSTEM_NAMESPACE)


def parse_inventory(manifest: Object | None) -> Inventory:
    """The inventory in a ConfigMap, empty without one; ClusterError for one that the collection did not write."""
    return parse_record(ConfigMap.of(manifest), INVENTORY_KEY, _parse_document) or Inventory()


def _parse_document(document: Mapping[str, Any]) -> Inventory:
    return Inventory(tuple(Ref(**entry) for entry in document["objects"]), dict(document["jobs"]))


def merge_refs(known: Iterable[Ref], new: Iterable[Ref]) -> tuple[Ref, ...]:
    """Each object once, with the API version of its last write."""
    refs = {ref.key: ref for ref in (*known, *new)}
    return tuple(refs.values())


@dataclass(frozen=True)
class ManifestState:
    """``uid`` is the cluster's. ``objects`` exist; the API of ``unserved`` objects is not served.

    ``version`` is the inventory's resourceVersion, None without an inventory. ``in_use``: user workloads that need the
    CRDs. ``residents``: contents of the namespaces that a removal deletes.
    """

    uid: str
    inventory: Inventory = field(default_factory=Inventory)
    version: str | None = None
    objects: Mapping[ObjectKey, Object] = field(default_factory=dict)
    unserved: frozenset[ObjectKey] = frozenset()
    in_use: tuple[Ref, ...] = ()
    residents: tuple[Object, ...] = ()

    def live(self, ref: Ref) -> Object | None:
        return self.objects.get(ref.key)


@dataclass(frozen=True)
class ManifestCluster:
    """Reads and writes the objects of a manifest in one cluster."""

    client: Client

    def read_state(self, name: str, document: ManifestDocument) -> ManifestState:
        """The current state of the manifest's objects and those of the inventory."""
        uid = cluster_uid(self.client)
        record = self.client.find(inventory_ref(name))
        inventory = parse_inventory(record)
        namespaces = [Ref("v1", "Namespace", item.ref.namespace) for item in document.items if item.ref.namespace]
        refs = {ref.key: ref for ref in (*inventory.refs, *namespaces, *(item.ref for item in document.items))}
        observed = {key: self._read_object(ref) for key, ref in refs.items()}
        objects = {key: live for key, (live, _served) in observed.items() if live is not None}
        unserved = frozenset(key for key, (_live, served) in observed.items() if not served)
        return ManifestState(uid, inventory, _version(record), objects, unserved)

    def read_recorded_state(self, name: str) -> ManifestState:
        """The current state of the inventory's objects, their users, and other contents of their namespaces."""
        uid = cluster_uid(self.client)
        record = self.client.find(inventory_ref(name))
        inventory = parse_inventory(record)
        observed = {ref.key: self._read_object(ref)[0] for ref in inventory.refs}
        objects = {key: live for key, live in observed.items() if live is not None}
        managed = [live for live in objects.values() if owner_of(live) == name and not is_adopted(live)]
        return ManifestState(
            uid,
            inventory,
            _version(record),
            objects,
            in_use=tuple(self._users(managed)),
            residents=tuple(self._residents(managed)),
        )

    def _read_object(self, ref: Ref) -> tuple[Object | None, bool]:
        """(the object or None, whether the server serves its API version)."""
        live = self.client.find(ref)
        return live, live is not None or self.client.serves(ref.api_version, ref.kind)

    def _users(self, managed: Iterable[Object]) -> Iterator[Ref]:
        """Volcano's Jobs and PodGroups, if the manifest manages their CRDs."""
        for live in managed:
            name = live["metadata"]["name"]
            if live["kind"] == CRD and name in WORKLOAD_CRDS:
                group, kind = WORKLOAD_CRDS[name]
                version = next(iter(served_versions(live)), "")
                yield from map(Ref.of, self.client.list_objects(f"{group}/{version}", kind) or ())

    def _residents(self, managed: Iterable[Object]) -> Iterator[Object]:
        for live in managed:
            if live["kind"] == "Namespace":
                name = live["metadata"]["name"]
                for api, kind in NAMESPACE_CONTENT_KINDS:
                    yield from self.client.list_objects(api, kind, namespace=name) or ()

    def write_inventory(self, name: str, inventory: Inventory, version: str | None) -> str | None:
        """Write the inventory if it is still as it was read, and return its new version."""
        return _version(apply_change(self.client, record_change(inventory_ref(name), inventory.to_data(), version)))

    def delete_inventory(self, name: str) -> None:
        self.client.delete(inventory_ref(name))

    def apply(self, changes: Sequence[ObjectChange], workloads: Iterable[Ref], options: WaitOptions) -> None:
        """Apply changes in their order, and wait until the workloads are ready; ClusterError with the reasons if not.

        Deletions of objects with dependents are waited for, so that no dependents remain.
        """

        def wait(change: ObjectChange) -> WaitOptions | None:
            has_dependents = change.operation is Operation.DELETE and stage_of(change.ref) in _WAIT_FOR_DELETION
            return options if has_dependents else None

        apply_changes(self.client, changes, wait, _Stages(self.client, changes, workloads, options).before_change)


class _Stages:
    """Waits for what a stage needs: CRDs that are served, and for webhooks that their server answers."""

    def __init__(
        self, client: Client, changes: Iterable[ObjectChange], workloads: Iterable[Ref], options: WaitOptions
    ) -> None:
        crds = [change.ref for change in changes if change.ref.kind == CRD and change.operation is not Operation.DELETE]
        self._awaited = {Stage.CRDS: crds, Stage.WORKLOADS: list(workloads)}
        self._client, self._options = client, options

    def before_change(self, change: ObjectChange | None) -> None:
        for earlier, refs in self._awaited.items():
            if change is None or stage_of(change.ref) > earlier:
                wait_until_ready(self._client, refs, self._options, WAIT_REMEDY)
                self._awaited[earlier] = []


def _version(manifest: Object | None) -> str | None:
    return ((manifest or {}).get("metadata") or {}).get("resourceVersion")
