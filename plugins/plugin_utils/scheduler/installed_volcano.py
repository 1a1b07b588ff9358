# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The observed state of Volcano in a cluster, its required parts, and the journal of the state before the collection.

The journal is a ConfigMap next to the scheduler's. It is written before anything else, so that an interrupted run loses
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.last_applied import parse_record, record_data
from ..kube.objects import ConfigMap, Object, Ref
from ..releases.minimum_versions import VOLCANO_SCHEDULER
from ..releases.versions import format_version, minor

JOURNAL_NAME, JOURNAL_KEY = "volcano-colocation-scheduler", "journal.json"


@dataclass(frozen=True)
class JournalEntry:
    """An object that the collection created, or changed: then ``back`` is the merge patch that reverts the change.

    ``after`` is its desired content in the last run.
    """

    ref: Ref
    created: bool
    back: Object
    after: Object


@dataclass(frozen=True)
class JournalText:
    """The scheduler's configuration: ``original`` before the first run, ``previous`` and ``committed`` around the last.

    ``foreign``: another client changed it between two runs, so that the original cannot be restored.
    """

    ref: Ref
    key: str
    original: str
    previous: str
    committed: str
    foreign: bool = False


@dataclass(frozen=True)
class SchedulerJournal:
    entries: tuple[JournalEntry, ...] = ()
    text: JournalText | None = None

    def entry(self, ref: Ref) -> JournalEntry | None:
        return next((entry for entry in self.entries if entry.ref.same(ref)), None)


def parse_journal(config_map: ConfigMap | None) -> SchedulerJournal:
    """The journal in a ConfigMap, empty without one; ClusterError for one that the collection did not write."""
    return parse_record(config_map, JOURNAL_KEY, _parse_document) or SchedulerJournal()


def _parse_document(document: Mapping[str, Any]) -> SchedulerJournal:
    entries = tuple(JournalEntry(**{**item, "ref": Ref(**item["ref"])}) for item in document["entries"])
    text = document["text"]
    return SchedulerJournal(entries, JournalText(**{**text, "ref": Ref(**text["ref"])}) if text else None)


def render_journal(journal: SchedulerJournal) -> dict[str, str]:
    """The ConfigMap's data."""
    text = asdict(journal.text) if journal.text else None
    return record_data(JOURNAL_KEY, {"text": text, "entries": [asdict(entry) for entry in journal.entries]})


def record_entries(
    journal: SchedulerJournal, changed: Iterable[JournalEntry], text: JournalText | None
) -> SchedulerJournal:
    """The journal with the changes that are about to be written."""
    entries = {entry.ref.key: entry for entry in journal.entries}
    for entry in changed:
        entries[entry.ref.key] = entry
    return SchedulerJournal(tuple(entries.values()), text or journal.text)


def record_text(known: JournalText | None, ref: Ref, key: str, before: str, after: str) -> JournalText:
    """A change of the configuration that is about to be written; the recorded original stays."""
    if known is None or not (known.ref.same(ref) and known.key == key):
        return JournalText(ref, key, before, before, after)
    own = before in (known.original, known.previous, known.committed)
    return replace(known, previous=before, committed=after, foreign=known.foreign or not own)


REQUIRED_CRDS = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh")
CRD_VERSION = "v1beta1"


@dataclass(frozen=True)
class SchedulerState:
    """``uid`` is that of the namespace kube-system, which identifies the cluster. None: missing, or not read.

    ``served`` has the served versions of each kind of admission policy. ``source`` says why the source of metrics is
    not available; '' where it is, None where that cannot be determined.
    """

    uid: str
    journal: SchedulerJournal = field(default_factory=SchedulerJournal)
    journal_version: str | None = None
    conf: ConfigMap | None = None
    deployment: Object | None = None
    crds: Mapping[str, Object] = field(default_factory=dict)
    classes: tuple[Object, ...] = ()
    queues: tuple[Object, ...] = ()
    other_objects: tuple[Object, ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str | None = None

    def live(self, ref: Ref) -> Object | None:
        """The object of the cluster with this reference."""
        return next(
            (live for live in (*self.classes, *self.queues, *self.other_objects) if Ref.of(live).same(ref)), None
        )

    @property
    def image(self) -> str:
        """The scheduler's image."""
        spec = ((self.deployment or {}).get("spec") or {}).get("template", {}).get("spec", {})
        return str(next((container.get("image") for container in spec.get("containers", ())), None) or "none")

    @property
    def release(self) -> tuple[int, int] | None:
        """Volcano's release, by the image's tag."""
        return release_of(self.image)


def release_of(image: str) -> tuple[int, int] | None:
    """The release in an image's tag; None where the tag is not a version, such as latest, or missing."""
    name = image.rpartition("/")[2].partition("@")[0]
    return minor(name.partition(":")[2])


def is_known_release(release: tuple[int, int] | None) -> bool:
    """Whether the rules of this collection apply to a release of Volcano."""
    return release is not None and release >= VOLCANO_SCHEDULER.minor


def check_release(state: SchedulerState) -> None:
    """ClusterError for a scheduler that is known to be too old for a configuration of colocation.

    Before 1.9 the plugin usage read other thresholds, CPUUsageAvg.5m (pkg/scheduler/plugins/usage/usage.go of 1.8.0),
    and there was no plugin capacity. An unknown release is a finding.
    """
    if state.release is not None and not is_known_release(state.release):
        raise ClusterError(
            f"The scheduler's release is {format_version(state.release)} (image {state.image}); a configuration for"
            f" colocation needs {VOLCANO_SCHEDULER.text}, the first release with the plugin capacity and the current"
            " thresholds of the plugin usage",
            "Nothing was changed. Install a newer Volcano, for example with colocation_volcano_manifest, or set"
            " colocation_scheduler_edit_configmap: false to leave its configuration unchanged.",
        )


def check_volcano(state: SchedulerState, namespace: str, deployment: str, conf: str | None) -> None:
    """ClusterError with all missing parts of Volcano; ``conf``: the name of the ConfigMap that will be edited."""
    missing = [f"CustomResourceDefinition {name}" for name in REQUIRED_CRDS if name not in state.crds]
    missing += [
        f"{name} in version {CRD_VERSION}"
        for name, crd in state.crds.items()
        if CRD_VERSION not in served_versions(crd)
    ]
    if state.deployment is None:
        missing.append(f"Deployment {namespace}/{deployment}")
    if conf and state.conf is None:
        missing.append(f"ConfigMap {namespace}/{conf}")
    if missing:
        raise ClusterError(
            f"Volcano is not installed as expected, missing: {', '.join(missing)}",
            "Nothing was changed. Install Volcano first, or set its location with colocation_volcano_namespace,"
            " colocation_scheduler_deployment and colocation_scheduler_configmap.",
        )


def served_versions(crd: Object) -> tuple[str, ...]:
    return tuple(version["name"] for version in crd["spec"].get("versions", ()) if version.get("served"))


def spec_fields(crd: Object) -> frozenset[str] | None:
    """The fields of spec in a CRD's schema; None where the schema lists none, so that all fields are kept."""
    for version in crd["spec"].get("versions", ()):
        if version["name"] == CRD_VERSION:
            schema: Any = (version.get("schema") or {}).get("openAPIV3Schema") or {}
            fields = ((schema.get("properties") or {}).get("spec") or {}).get("properties")
            return frozenset(fields) if fields else None
    return None
