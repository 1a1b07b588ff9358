# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scheduler's module asks an API server, and what it has it do; in check mode everything is a dry run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ConfigMap
from ..scheduler import journal
from ..scheduler.admission import GROUP, MUTATING, VALIDATING, VERSIONS
from ..scheduler.conf import Metrics
from ..scheduler.deeds import TextChange
from ..scheduler.metrics_source import Place, missing, place_of, source_of
from ..scheduler.objects import Manifest, Ref
from ..scheduler.priority_classes import API as CLASSES
from ..scheduler.queues import API as QUEUES
from ..scheduler.seen import CRDS, Seen
from ..scheduler.wanted import Wanted
from .objects_api import ObjectsApi

CRD = "apiextensions.k8s.io/v1"


class SchedulerApi(ObjectsApi):
    """One API server, and what of it the scheduler is about."""

    def look(self, wanted: Wanted) -> Seen:
        """All that has to be known before anything is planned, and no more than is asked for."""
        uid = self._uid()
        kept = self._found(Ref("v1", "ConfigMap", journal.NAME, wanted.namespace))
        conf = self._found(Ref("v1", "ConfigMap", wanted.configmap, wanted.namespace)) if wanted.conf else None
        volcano = wanted.needs_volcano
        crds = {name: self._found(Ref(CRD, "CustomResourceDefinition", name)) for name in (CRDS if volcano else ())}
        deployment = Ref("apps/v1", "Deployment", wanted.deployment, wanted.namespace)
        versions, policies = self._policies(wanted)
        return Seen(
            uid,
            journal.read_journal(_config_map(kept)),
            kept["metadata"]["resourceVersion"] if kept else None,
            _config_map(conf),
            self._found(deployment) if volcano else None,
            {name: crd for name, crd in crds.items() if crd is not None},
            tuple(self._listed(CLASSES, "PriorityClass") or ()) if wanted.classes else (),
            tuple(self._listed(QUEUES, "Queue") or ()) if wanted.queues else (),
            policies,
            versions,
            self._source(source_of(wanted.conf, _text(conf, wanted.key))),
        )

    def look_back(self, namespace: str) -> Seen:
        """What the journal names, as it is now."""
        uid = self._uid()
        kept = self._found(Ref("v1", "ConfigMap", journal.NAME, namespace))
        found = journal.read_journal(_config_map(kept))
        conf = self._found(found.text.ref) if found.text else None
        others = (self._found(each.ref) for each in found.entries)
        return Seen(
            uid,
            found,
            kept["metadata"]["resourceVersion"] if kept else None,
            _config_map(conf),
            others=tuple(each for each in others if each is not None),
        )

    def _policies(self, wanted: Wanted) -> tuple[dict[str, tuple[str, ...]], tuple[Manifest, ...]]:
        """(versions that the server has of each kind that is asked for, the policies and bindings of the newest)."""
        versions: dict[str, tuple[str, ...]] = {}
        found: list[Manifest] = []
        admission = wanted.admission
        asked = {VALIDATING: admission.validate, MUTATING: admission.mutate} if admission else {}
        for kind in (kind for kind, is_asked in asked.items() if is_asked):
            for version in VERSIONS[kind]:
                policies = self._listed(f"{GROUP}/{version}", kind)
                if policies is not None:
                    bindings = self._listed(f"{GROUP}/{version}", f"{kind}Binding") or ()
                    versions[kind] = (version,)
                    found += [*policies, *bindings]
                    break
        return versions, tuple(found)

    def _source(self, metrics: Metrics | None) -> str | None:
        """Why the source of metrics is not there; '' where it is, None where that cannot be told from here."""
        place = place_of(metrics) if metrics else None
        return missing(place, self._found(place.ref)) if isinstance(place, Place) else None

    def note(self, namespace: str, kept: journal.Journal, version: str | None) -> None:
        """Write the journal, if it is still as it was read."""
        ref = Ref("v1", "ConfigMap", journal.NAME, namespace)
        header = ref.header(**({"resourceVersion": version} if version else {}))
        what = f"{'patch' if version else 'create'} configmaps {ref.name} in {namespace}"
        self._write(what, {**header, "data": journal.written(kept)})

    def take_journal_away(self, namespace: str) -> None:
        ref = Ref("v1", "ConfigMap", journal.NAME, namespace)
        self._write(f"delete configmaps {ref.name} in {namespace}", ref.header(), state="absent")

    def write_text(self, change: TextChange) -> None:
        header = change.ref.header(resourceVersion=change.found.version)
        what = f"patch configmaps {change.ref.name} in {change.ref.namespace}"
        self._write(what, {**header, "data": {change.key: change.after}}, state="patched")


def _text(found: Mapping[str, Any] | None, key: str) -> str | None:
    text: str | None = ((found or {}).get("data") or {}).get(key)
    return text


def _config_map(found: Mapping[str, Any] | None) -> ConfigMap | None:
    if found is None:
        return None
    return ConfigMap(found["metadata"]["name"], found.get("data") or {}, found["metadata"]["resourceVersion"])
