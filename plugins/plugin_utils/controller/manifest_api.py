# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of an API server for a manifest, how its objects are written, and how they are waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..kubeadm.model import ClusterError
from ..manifest.document import Document
from ..manifest.inventory import Inventory, place, read_inventory
from ..manifest.marks import is_adopted, owner
from ..manifest.order import Stage, stage
from ..manifest.proof import State, selector, state, why
from ..manifest.removal import RESIDENTS, USES
from ..manifest.seen import Seen, key
from ..scheduler.deeds import Deed, ObjectChange
from ..scheduler.objects import Manifest, Ref
from ..scheduler.seen import served_versions
from .objects_api import ObjectsApi
from .requests import WRITE

POLL = 5
"""Seconds between two looks at what is waited for."""
CRD = "CustomResourceDefinition"
_LINGER = (Stage.NAMESPACES, Stage.CRDS, Stage.WORKLOADS)


@dataclass(frozen=True)
class Patience:
    """``timeout`` in seconds, for all that is waited for at once; ``tell`` is for the person who watches."""

    timeout: int
    sleep: Callable[[float], None]
    tell: Callable[[str], None]


class ManifestApi(ObjectsApi):
    """One API server, and what of it a manifest is about."""

    def look(self, name: str, document: Document) -> Seen:
        """The manifest's objects and those of the inventory, as they are now."""
        uid = self._uid()
        kept = self._found(place(name))
        inventory = read_inventory(kept)
        spaces = [Ref("v1", "Namespace", each.ref.namespace) for each in document.items if each.ref.namespace]
        refs = {key(each): each for each in (*inventory.refs, *spaces, *(each.ref for each in document.items))}
        found = {every: self._seen(ref) for every, ref in refs.items()}
        objects = {every: live for every, (live, _served) in found.items() if live is not None}
        unserved = frozenset(every for every, (_live, served) in found.items() if not served)
        return Seen(uid, inventory, _version(kept), objects, unserved)

    def look_back(self, name: str) -> Seen:
        """What the inventory names, who uses it, and what else is in its namespaces."""
        uid = self._uid()
        kept = self._found(place(name))
        inventory = read_inventory(kept)
        found = {key(ref): self._seen(ref)[0] for ref in inventory.refs}
        objects = {every: live for every, live in found.items() if live is not None}
        ours = [live for live in objects.values() if owner(live) == name and not is_adopted(live)]
        return Seen(
            uid,
            inventory,
            _version(kept),
            objects,
            in_use=tuple(self._users(ours)),
            residents=tuple(self._residents(ours)),
        )

    def _seen(self, ref: Ref) -> tuple[Manifest | None, bool]:
        """(the object, whether the server has its API in this version)."""
        what = f"get {ref.resource} {ref.name}" + (f" in {ref.namespace}" if ref.namespace else "")
        where = {"namespace": ref.namespace} if ref.namespace else {}
        found = self._asked(what, {"api_version": ref.api_version, "kind": ref.kind, "name": ref.name, **where})
        return (None, False) if found is None else (next(iter(found), None), True)

    def _users(self, ours: Iterable[Manifest]) -> Iterator[Ref]:
        """Volcano's Jobs and PodGroups, where its CRDs are ours."""
        for each in ours:
            name = each["metadata"]["name"]
            if each["kind"] == CRD and name in USES:
                group, kind = USES[name]
                version = next(iter(served_versions(each)), "")
                yield from map(Ref.of, self._listed(f"{group}/{version}", kind) or ())

    def _residents(self, ours: Iterable[Manifest]) -> Iterator[Manifest]:
        for each in ours:
            if each["kind"] == "Namespace":
                name = each["metadata"]["name"]
                for api, kind in RESIDENTS:
                    what = f"list {Ref(api, kind, '').resource} in {name}"
                    yield from self._asked(what, {"api_version": api, "kind": kind, "namespace": name}) or ()

    def note(self, name: str, inventory: Inventory, version: str | None) -> str | None:
        """Write the inventory, if it is still as it was read; its new version."""
        ref = place(name)
        header = ref.header(**({"resourceVersion": version} if version else {}))
        verb = "patch" if version else "create"
        what = f"{verb} configmaps {ref.name} in {ref.namespace}"
        arguments = {"definition": {**header, "data": inventory.written()}}
        return _version(self._run(WRITE, what, arguments).get("result"))

    def take_away(self, name: str) -> None:
        """The inventory."""
        ref = place(name)
        self._write(f"delete configmaps {ref.name} in {ref.namespace}", ref.header(), state="absent")

    def delete(self, change: ObjectChange, timeout: int) -> None:
        """What takes others along is waited for, so that nothing is left when this returns."""
        if stage(change.ref) not in _LINGER:
            self.carry_out(change)
            return
        what = f"{Deed.DELETE.value} {change.ref.resource} {change.ref.name}"
        options = {"delete_options": {"propagationPolicy": "Foreground"}, "wait": True, "wait_timeout": timeout}
        self._write(what, change.manifest, state="absent", **options)

    def prove(self, refs: Iterable[Ref], patience: Patience) -> None:
        """Wait until all of these are as they should be; ClusterError with the reasons where they do not become so."""
        left = list(refs)
        end = time.monotonic() + patience.timeout
        told: dict[Ref, str] = {}
        while left:
            live = {ref: self._seen(ref)[0] for ref in left}
            states = {ref: state(ref, each) for ref, each in live.items()}
            left = [ref for ref in left if states[ref].lacks]
            for ref in left:
                if told.get(ref) != states[ref].lacks:
                    told[ref] = states[ref].lacks
                    patience.tell(f"waiting for {ref.place}: {told[ref]}")
            if left and (time.monotonic() >= end or any(states[ref].failed for ref in left)):
                reasons = "; ".join(self._told(ref, live[ref], states[ref]) for ref in left)
                raise ClusterError(
                    f"What was installed does not run: {reasons}",
                    "It stays as it is, and a further run goes on from here. Correct what is told, or give it more"
                    " time with colocation_volcano_timeout.",
                )
            if left:
                patience.sleep(POLL)

    def _told(self, ref: Ref, live: Manifest | None, found: State) -> str:
        if live is None or ref.kind == CRD:
            return f"{ref.place}: {found.lacks}"
        labels = selector(ref, live)
        arguments = {"api_version": "v1", "kind": "Pod", "namespace": ref.namespace, "label_selectors": [labels]}
        pods = self._asked(f"list pods in {ref.namespace}", arguments) if labels else ()
        reasons = why(live, pods or ())
        return f"{ref.place}: {found.lacks}" + (f" ({'; '.join(reasons)})" if reasons else "")


def _version(found: Manifest | None) -> str | None:
    return ((found or {}).get("metadata") or {}).get("resourceVersion")
