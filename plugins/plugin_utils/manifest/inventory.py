# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects were made of a manifest, in a ConfigMap of kube-system: it is there before, and after, all of them.

It is written before anything else is, so that a run that is cut off loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..kube.identity import SYSTEM_NAMESPACE
from ..kube.last_applied import read_record, record_data
from ..kube.objects import ConfigMap, Object, Ref

ENTRY = "inventory.json"


@dataclass(frozen=True)
class Inventory:
    """``jobs`` has the fingerprints of Jobs that are done: a server may take them away then, and none is run again."""

    refs: tuple[Ref, ...] = ()
    jobs: Mapping[str, str] = field(default_factory=dict)

    def has(self, ref: Ref) -> bool:
        return any(each.same(ref) for each in self.refs)

    def written(self) -> dict[str, str]:
        """The ConfigMap's data."""
        return record_data(ENTRY, {"objects": [asdict(each) for each in self.refs], "jobs": dict(self.jobs)})


def place(name: str) -> Ref:
    """Where the inventory of a manifest is."""
    return Ref("v1", "ConfigMap", f"volcano-colocation-manifest-{name}", SYSTEM_NAMESPACE)


def read_inventory(found: Object | None) -> Inventory:
    """The inventory of a ConfigMap, empty where there is none; ClusterError for one that is not ours."""
    return read_record(ConfigMap.of(found), ENTRY, _inventory) or Inventory()


def _inventory(document: Mapping[str, Any]) -> Inventory:
    return Inventory(tuple(Ref(**each) for each in document["objects"]), dict(document["jobs"]))


def joined(known: Iterable[Ref], new: Iterable[Ref]) -> tuple[Ref, ...]:
    """Each object once, in the version that it was last written in."""
    found = {each.key: each for each in (*known, *new)}
    return tuple(found.values())
