# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of objects that were created from a manifest, and their observed state.

The inventory is a ConfigMap in kube-system. It is written before all objects and deleted after them, so that an
interrupted run loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..kube.identity import SYSTEM_NAMESPACE
from ..kube.last_applied import parse_record, record_data
from ..kube.objects import ConfigMap, Object, ObjectKey, Ref

INVENTORY_KEY = "inventory.json"


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
