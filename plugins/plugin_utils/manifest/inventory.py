# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects were made from a manifest, and what was read of them before anything is planned.

The inventory is a ConfigMap in kube-system. It is written before all objects and is deleted after them, so that a run
that is cut off loses nothing.
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
    """``jobs`` has the fingerprints of Jobs that are done: a server may take them away then, and none is run again."""

    refs: tuple[Ref, ...] = ()
    jobs: Mapping[str, str] = field(default_factory=dict)

    def has(self, ref: Ref) -> bool:
        return any(each.same(ref) for each in self.refs)

    def written(self) -> dict[str, str]:
        """The ConfigMap's data."""
        return record_data(INVENTORY_KEY, {"objects": [asdict(each) for each in self.refs], "jobs": dict(self.jobs)})


def inventory_ref(name: str) -> Ref:
    """Where the inventory of a manifest is."""
    return Ref("v1", "ConfigMap", f"volcano-colocation-manifest-{name}", SYSTEM_NAMESPACE)


def parse_inventory(found: Object | None) -> Inventory:
    """The inventory of a ConfigMap, empty where there is none; ClusterError for one that is not ours."""
    return parse_record(ConfigMap.of(found), INVENTORY_KEY, _parse_document) or Inventory()


def _parse_document(document: Mapping[str, Any]) -> Inventory:
    return Inventory(tuple(Ref(**each) for each in document["objects"]), dict(document["jobs"]))


def merge_refs(known: Iterable[Ref], new: Iterable[Ref]) -> tuple[Ref, ...]:
    """Each object once, in the version that it was last written in."""
    found = {each.key: each for each in (*known, *new)}
    return tuple(found.values())


@dataclass(frozen=True)
class ManifestState:
    """``uid`` is the cluster's. ``objects`` are those that are there, ``unserved`` those whose API the server has not.

    ``version`` is the inventory's resourceVersion, None where there is none. ``in_use``: custom resources that would
    be nobody's. ``residents``: what is in the namespaces that would go.
    """

    uid: str
    inventory: Inventory = field(default_factory=Inventory)
    version: str | None = None
    objects: Mapping[ObjectKey, Object] = field(default_factory=dict)
    unserved: frozenset[ObjectKey] = frozenset()
    in_use: tuple[Ref, ...] = ()
    residents: tuple[Object, ...] = ()

    def found(self, ref: Ref) -> Object | None:
        return self.objects.get(ref.key)
