# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what is wanted and what was read to the requests that are still needed, and the journal of what was before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..edit.readers import read_yaml
from ..edit.text_errors import EditError, UneditableFile
from ..findings.model import Finding
from ..findings.scheduler import above_watermarks, lint, release, unheard_queues
from ..kube.changes import ObjectChange, creation, patch_of, text_change
from ..kube.errors import ClusterError
from ..kube.identity import require_cluster
from ..kube.merge import Absent, Drift, MergeRules, merge
from ..kube.objects import Object, Ref, body, inverse, nulls, over, patched
from . import mutating, validating
from .admission import MUTATING, VALIDATING, Admission, served, skipped
from .conf import edit_conf
from .journal import Entry, Journal, Text, noted, noted_text
from .priority_classes import check_against
from .queues import check_together, fields_given, parents_first, queue_of
from .seen import CRDS, Seen, check_release, check_volcano, spec_fields
from .wanted import Wanted

RULES = MergeRules(Absent.EMPTY, Drift.RESET)
EVERY_FIELD = frozenset(("weight", "capability", "deserved", "guarantee", "reclaimable", "parent"))


@dataclass(frozen=True)
class SchedulerPlan:
    """What is to be done in this order: journal, objects, text. ``left_out``: what this server cannot have."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    journal: Journal = field(default_factory=Journal)
    findings: tuple[Finding, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text)


def make_plan(wanted: Wanted, seen: Seen, cluster_uid: str) -> SchedulerPlan:
    """The plan; ClusterError and UneditableFile where it cannot be had, all before the first change."""
    require_cluster(seen.uid, cluster_uid, changing=False)
    if wanted.needs_volcano:
        check_volcano(seen, wanted.namespace, wanted.deployment, wanted.configmap if wanted.conf else None)
    if wanted.conf:
        check_release(seen)
    check_against(wanted.classes, seen.classes)
    if wanted.queues:
        known = spec_fields(seen.crds[CRDS[0]])
        check_together(wanted.queues, map(queue_of, seen.queues), EVERY_FIELD if known is None else known)
    if wanted.conf and seen.source:
        raise ClusterError(seen.source, "Nothing was changed. Correct colocation_scheduler_metrics, or make it first.")
    text, document = _text(wanted, seen)
    manifests = tuple(_manifests(wanted, seen))
    objects, entries = _objects(manifests, seen)
    plan = SchedulerPlan(
        objects,
        text,
        noted(seen.journal, entries, _noted(text, wanted.key, seen)),
        _findings(wanted, seen, document),
        tuple(_left_out(wanted.admission, seen)),
    )
    require_cluster(seen.uid, cluster_uid, changing=plan.changes)
    return plan


def _text(wanted: Wanted, seen: Seen) -> tuple[ObjectChange | None, Object | None]:
    """The change of the configuration, and the configuration as it will be."""
    if seen.conf is None:
        return None, None
    place = f"ConfigMap {wanted.namespace}/{wanted.configmap}"
    if wanted.key not in seen.conf.data:
        raise ClusterError(
            f"{place} has no key {wanted.key}", "Nothing was changed. Give colocation_scheduler_configmap_key."
        )
    before = seen.conf.data[wanted.key]
    try:
        after = edit_conf(before, wanted.conf) if wanted.conf else before
        document = read_yaml(after)
    except EditError as error:
        raise UneditableFile(f"{place}, key {wanted.key}", error) from error
    return (text_change(seen.conf, wanted.key, after) if after != before else None), document


def _noted(text: ObjectChange | None, key: str, seen: Seen) -> Text | None:
    return noted_text(seen.journal.text, text.ref, key, text.before, text.after) if text else None


def _manifests(wanted: Wanted, seen: Seen) -> Iterator[Object]:
    """All objects, each after those that it names."""
    yield from (each.manifest() for each in wanted.classes)
    yield from (each.manifest() for each in parents_first(wanted.queues))
    if wanted.admission:
        version = served(VALIDATING, seen.served.get(VALIDATING, ()))
        if wanted.admission.validate and version:
            yield from validating.manifests(wanted.admission, version)
        version = served(MUTATING, seen.served.get(MUTATING, ()))
        if wanted.admission.mutate and version:
            yield from mutating.manifests(wanted.admission, version)


def _left_out(admission: Admission | None, seen: Seen) -> Iterator[str]:
    if admission is None:
        return
    for kind, asked in ((VALIDATING, admission.validate), (MUTATING, admission.mutate)):
        if asked and served(kind, seen.served.get(kind, ())) is None:
            yield f"{kind}: {skipped(kind)}"


def _objects(manifests: tuple[Object, ...], seen: Seen) -> tuple[tuple[ObjectChange, ...], tuple[Entry, ...]]:
    changes, entries = [], []
    new: set[str] = set()
    for manifest in manifests:
        ref = Ref.of(manifest)
        known, found = seen.journal.entry(ref), seen.found(ref)
        # Volcano's webhook looks a queue's parent up, and refuses one whose parent a dry run did not make.
        dry = (manifest.get("spec") or {}).get("parent") not in new
        if found is None:
            new.add(ref.name)
            changes.append(creation(manifest, dry=dry))
            entries.append(Entry(ref, created=True, back={}, after=body(manifest)))
            continue
        needed = merge(body(found), body(manifest), known.after if known else {}, RULES, _undo(known)).change
        if not needed:
            continue
        after = patched(body(found), needed)
        changes.append(patch_of(found, needed, after, ref=ref, dry=dry))
        back = inverse(body(found), needed)
        if known:
            back = over(known.back, back)
        entries.append(Entry(ref, bool(known and known.created), back, body(manifest)))
    return tuple(changes), tuple(entries)


def _undo(known: Entry | None) -> Object:
    """What our own fields were before: not there in an object that we made."""
    if known is None:
        return {}
    undo: Object = nulls(known.after) if known.created else known.back
    return undo


def _findings(wanted: Wanted, seen: Seen, document: Object | None) -> tuple[Finding, ...]:
    if document is None:
        return ()
    place = f"ConfigMap {wanted.namespace}/{wanted.configmap}"
    usage = wanted.conf.usage if wanted.conf else None
    return (
        *release(seen.release, seen.image),
        *lint(place, document),
        *above_watermarks(usage, wanted.watermarks),
        *unheard_queues(document, fields_given(wanted.queues)),
    )
