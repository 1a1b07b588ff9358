# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster has of Volcano, what of it is required, and the journal of what was there before.

The journal is a ConfigMap beside the scheduler's. It is written before anything else, so that a run that is cut off
loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.last_applied import parse_record, record_data
from ..kube.objects import ConfigMap, Object, Ref
from ..releases.versions import minor

JOURNAL_NAME, JOURNAL_KEY = "volcano-colocation-scheduler", "journal.json"


@dataclass(frozen=True)
class JournalEntry:
    """An object: made by us, or changed, and then ``back`` is the merge patch that takes that back.

    ``after`` is what it was to say after the last run.
    """

    ref: Ref
    created: bool
    back: Object
    after: Object


@dataclass(frozen=True)
class JournalText:
    """The scheduler's configuration: ``original`` before the first run, ``previous`` and ``committed`` around the last.

    ``foreign``: somebody else wrote between two runs of ours, so that the original is not ours to put back.
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
        return next((each for each in self.entries if each.ref.same(ref)), None)


def parse_journal(found: ConfigMap | None) -> SchedulerJournal:
    """The journal of a ConfigMap, empty where there is none; ClusterError for one that is not ours."""
    return parse_record(found, JOURNAL_KEY, _parse_document) or SchedulerJournal()


def _parse_document(document: Mapping[str, Any]) -> SchedulerJournal:
    entries = tuple(JournalEntry(**{**each, "ref": Ref(**each["ref"])}) for each in document["entries"])
    text = document["text"]
    return SchedulerJournal(entries, JournalText(**{**text, "ref": Ref(**text["ref"])}) if text else None)


def render_journal(journal: SchedulerJournal) -> dict[str, str]:
    """The ConfigMap's data."""
    text = asdict(journal.text) if journal.text else None
    return record_data(JOURNAL_KEY, {"text": text, "entries": [asdict(each) for each in journal.entries]})


def record_entries(
    journal: SchedulerJournal, changed: Iterable[JournalEntry], text: JournalText | None
) -> SchedulerJournal:
    """The journal with what is about to be written."""
    entries = {each.ref.key: each for each in journal.entries}
    for each in changed:
        entries[each.ref.key] = each
    return SchedulerJournal(tuple(entries.values()), text or journal.text)


def record_text(known: JournalText | None, ref: Ref, key: str, before: str, after: str) -> JournalText:
    """A change of the configuration that is about to be written; what was there first stays what was there first."""
    if known is None or not (known.ref.same(ref) and known.key == key):
        return JournalText(ref, key, before, before, after)
    own = before in (known.original, known.previous, known.committed)
    return replace(known, previous=before, committed=after, foreign=known.foreign or not own)


REQUIRED_CRDS = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh")
CRD_VERSION = "v1beta1"
FIRST_AGENT = (1, 11)
"""The first release of Volcano that has an agent, and with it colocation."""


@dataclass(frozen=True)
class SchedulerState:
    """``uid`` is that of the namespace kube-system, which is the cluster's. None: not there, or not looked for.

    ``served`` has the versions of each kind of admission policy that the server has. ``source`` says why the source of
    metrics is not there; '' where it is, None where nobody could tell from here.
    """

    uid: str
    journal: SchedulerJournal = field(default_factory=SchedulerJournal)
    journal_version: str | None = None
    conf: ConfigMap | None = None
    deployment: Object | None = None
    crds: Mapping[str, Object] = field(default_factory=dict)
    classes: tuple[Object, ...] = ()
    queues: tuple[Object, ...] = ()
    others: tuple[Object, ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str | None = None

    def found(self, ref: Ref) -> Object | None:
        """The object of the cluster that this names."""
        return next((each for each in (*self.classes, *self.queues, *self.others) if Ref.of(each).same(ref)), None)

    @property
    def image(self) -> str:
        """The scheduler's image."""
        spec = ((self.deployment or {}).get("spec") or {}).get("template", {}).get("spec", {})
        return str(next((each.get("image") for each in spec.get("containers", ())), None) or "none")

    @property
    def release(self) -> tuple[int, int] | None:
        """Volcano's, by the image's tag."""
        return release_of(self.image)


def release_of(image: str) -> tuple[int, int] | None:
    """What an image's tag says; None where that is no version, such as latest or a digest."""
    name = image.rpartition("/")[2].partition("@")[0]
    return minor(name.partition(":")[2])


def is_known_release(release: tuple[int, int] | None) -> bool:
    """Whether what this collection says of Volcano holds for a release."""
    return release is not None and release >= FIRST_AGENT


def check_release(seen: SchedulerState) -> None:
    """ClusterError for a scheduler that is known to be too old for a configuration of colocation.

    Before 1.11 nothing of Volcano offers what BE pods ask for: cmd/agent comes with it. Early plugins usage read other
    thresholds, CPUUsageAvg.5m (pkg/scheduler/plugins/usage/usage.go). A release that nobody can tell is a finding.
    """
    if seen.release is not None and not is_known_release(seen.release):
        found, first = (".".join(map(str, each)) for each in (seen.release, FIRST_AGENT))
        raise ClusterError(
            f"The scheduler is of Volcano {found} (image {seen.image}); a configuration for colocation needs {first},"
            " the first release with the agent whose resources BE pods are scheduled by",
            "Nothing was changed. Install a newer Volcano (colocation_volcano_manifest does), or leave its"
            " configuration alone with colocation_scheduler_edit_configmap: false.",
        )


def check_volcano(seen: SchedulerState, namespace: str, deployment: str, conf: str | None) -> None:
    """ClusterError with all that is missing of Volcano; ``conf``: the ConfigMap that is to be edited."""
    lacks = [f"CustomResourceDefinition {name}" for name in REQUIRED_CRDS if name not in seen.crds]
    lacks += [
        f"{name} in version {CRD_VERSION}" for name, crd in seen.crds.items() if CRD_VERSION not in served_versions(crd)
    ]
    if seen.deployment is None:
        lacks.append(f"Deployment {namespace}/{deployment}")
    if conf and seen.conf is None:
        lacks.append(f"ConfigMap {namespace}/{conf}")
    if lacks:
        raise ClusterError(
            f"Volcano is not there as expected, it lacks: {', '.join(lacks)}",
            "Nothing was changed. Install Volcano first, or say where it is with colocation_volcano_namespace,"
            " colocation_scheduler_deployment and colocation_scheduler_configmap.",
        )


def served_versions(crd: Object) -> tuple[str, ...]:
    return tuple(each["name"] for each in crd["spec"].get("versions", ()) if each.get("served"))


def spec_fields(crd: Object) -> frozenset[str] | None:
    """The fields of spec that a CRD keeps; None where its schema does not say, and keeps all."""
    for each in crd["spec"].get("versions", ()):
        if each["name"] == CRD_VERSION:
            schema: Any = (each.get("schema") or {}).get("openAPIV3Schema") or {}
            fields = ((schema.get("properties") or {}).get("spec") or {}).get("properties")
            return frozenset(fields) if fields else None
    return None
