# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From desired and observed state to the changes that are needed, with their journal; and the changes that restore."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..edit.readers import read_yaml
from ..edit.text_errors import EditError, UneditableFile
from ..kube.api_errors import ClusterError
from ..kube.identity import require_cluster
from ..kube.object_changes import ObjectChange, creation_of, deletion_of, merge_patch, text_change
from ..kube.objects import Object, Ref, apply_patch, body, combine_undo, project, removal_patch, undo_patch
from ..kube.three_way_merge import Absent, Drift, MergeRules, covers, merge
from ..rules.rule_types import Finding
from . import admission_policies
from .admission_policies import MUTATING, VALIDATING, Admission, newest_version, unsupported_reason
from .conf_findings import above_watermarks, lint, release, unheard_queues
from .installed_volcano import (
    REQUIRED_CRDS,
    JournalEntry,
    JournalText,
    SchedulerJournal,
    SchedulerState,
    check_release,
    check_volcano,
    record_entries,
    record_text,
    spec_fields,
)
from .priority_classes import check_classes
from .queues import check_queues, parents_first, parse_queue, queues_by_field
from .target_spec import TargetSpec
from .volcano_conf import edit_conf

MERGE_RULES = MergeRules(Absent.EMPTY, Drift.RESET)
ALL_QUEUE_FIELDS = frozenset(("weight", "capability", "deserved", "guarantee", "reclaimable", "parent"))


@dataclass(frozen=True)
class SchedulerPlan:
    """What is to be done in this order: journal, objects, text. ``left_out``: what this server cannot have."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    journal: SchedulerJournal = field(default_factory=SchedulerJournal)
    findings: tuple[Finding, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text)


def plan_scheduling(wanted: TargetSpec, seen: SchedulerState, cluster_uid: str) -> SchedulerPlan:
    """The plan; ClusterError and UneditableFile where it cannot be had, all before the first change."""
    require_cluster(seen.uid, cluster_uid, changing=False)
    if wanted.needs_volcano:
        check_volcano(seen, wanted.namespace, wanted.deployment, wanted.configmap if wanted.conf else None)
    if wanted.conf:
        check_release(seen)
    check_classes(wanted.classes, seen.classes)
    if wanted.queues:
        known = spec_fields(seen.crds[REQUIRED_CRDS[0]])
        check_queues(wanted.queues, map(parse_queue, seen.queues), ALL_QUEUE_FIELDS if known is None else known)
    if wanted.conf and seen.source:
        raise ClusterError(seen.source, "Nothing was changed. Correct colocation_scheduler_metrics, or make it first.")
    text, document = _conf_change(wanted, seen)
    manifests = tuple(_desired_objects(wanted, seen))
    objects, entries = _object_changes(manifests, seen)
    plan = SchedulerPlan(
        objects,
        text,
        record_entries(seen.journal, entries, _journal_text(text, wanted.key, seen)),
        _findings(wanted, seen, document),
        tuple(_unsupported_policies(wanted.admission, seen)),
    )
    require_cluster(seen.uid, cluster_uid, changing=plan.changes)
    return plan


def _conf_change(wanted: TargetSpec, seen: SchedulerState) -> tuple[ObjectChange | None, Object | None]:
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


def _journal_text(text: ObjectChange | None, key: str, seen: SchedulerState) -> JournalText | None:
    return record_text(seen.journal.text, text.ref, key, text.before, text.after) if text else None


def _desired_objects(wanted: TargetSpec, seen: SchedulerState) -> Iterator[Object]:
    """All objects, each after those that it names."""
    yield from (each.manifest() for each in wanted.classes)
    yield from (each.manifest() for each in parents_first(wanted.queues))
    if wanted.admission:
        version = newest_version(VALIDATING, seen.served.get(VALIDATING, ()))
        if wanted.admission.validate and version:
            yield from admission_policies.render_validating(wanted.admission, version)
        version = newest_version(MUTATING, seen.served.get(MUTATING, ()))
        if wanted.admission.mutate and version:
            yield from admission_policies.render_mutating(wanted.admission, version)


def _unsupported_policies(admission: Admission | None, seen: SchedulerState) -> Iterator[str]:
    if admission is None:
        return
    for kind, asked in ((VALIDATING, admission.validate), (MUTATING, admission.mutate)):
        if asked and newest_version(kind, seen.served.get(kind, ())) is None:
            yield f"{kind}: {unsupported_reason(kind)}"


def _object_changes(
    manifests: tuple[Object, ...], seen: SchedulerState
) -> tuple[tuple[ObjectChange, ...], tuple[JournalEntry, ...]]:
    changes, entries = [], []
    new: set[str] = set()
    for manifest in manifests:
        ref = Ref.of(manifest)
        known, found = seen.journal.entry(ref), seen.found(ref)
        # Volcano's webhook looks a queue's parent up, and refuses one whose parent a dry run did not make.
        dry = (manifest.get("spec") or {}).get("parent") not in new
        if found is None:
            new.add(ref.name)
            changes.append(creation_of(manifest, dry=dry))
            entries.append(JournalEntry(ref, created=True, back={}, after=body(manifest)))
            continue
        needed = merge(body(found), body(manifest), known.after if known else {}, MERGE_RULES, _undo(known)).change
        if not needed:
            continue
        after = apply_patch(body(found), needed)
        changes.append(merge_patch(found, needed, after, ref=ref, dry=dry))
        back = undo_patch(body(found), needed)
        if known:
            back = combine_undo(known.back, back)
        entries.append(JournalEntry(ref, bool(known and known.created), back, body(manifest)))
    return tuple(changes), tuple(entries)


def _undo(known: JournalEntry | None) -> Object:
    """What our own fields were before: not there in an object that we made."""
    if known is None:
        return {}
    undo: Object = removal_patch(known.after) if known.created else known.back
    return undo


def _findings(wanted: TargetSpec, seen: SchedulerState, document: Object | None) -> tuple[Finding, ...]:
    if document is None:
        return ()
    place = f"ConfigMap {wanted.namespace}/{wanted.configmap}"
    usage = wanted.conf.usage if wanted.conf else None
    return (
        *release(seen.release, seen.image),
        *lint(place, document),
        *above_watermarks(usage, wanted.watermarks),
        *unheard_queues(document, queues_by_field(wanted.queues)),
    )


@dataclass(frozen=True)
class SchedulingRestorePlan:
    """What is to be done in this order: the text, the objects, the journal's end."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    forget: bool = False

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text or self.forget)


def plan_restore(seen: SchedulerState, cluster_uid: str) -> SchedulingRestorePlan:
    """What to put back; ClusterError with all conflicts, and nothing is put back then."""
    require_cluster(seen.uid, cluster_uid, changing=seen.journal_version is not None)
    conflicts: list[str] = []
    objects = [_restore_object(each, seen, conflicts) for each in reversed(seen.journal.entries)]
    text = _restore_text(seen.journal, seen, conflicts)
    if conflicts:
        raise ClusterError(
            f"Changed by somebody else since: {'; '.join(conflicts)}",
            "Nothing was put back. Undo these changes and run this again, or put the rest back by hand and delete the"
            " ConfigMap volcano-colocation-scheduler, which has all that was there before.",
        )
    return SchedulingRestorePlan(tuple(each for each in objects if each), text, seen.journal_version is not None)


def _restore_object(entry: JournalEntry, seen: SchedulerState, conflicts: list[str]) -> ObjectChange | None:
    found = seen.found(entry.ref)
    if found is None:
        return None
    own = body(found)
    back = apply_patch(own, entry.back)
    if not entry.created and _object_covers(back, own) and _object_covers(own, back):
        return None
    if not _object_covers(own, entry.after):
        conflicts.append(entry.ref.place)
        return None
    if entry.created:
        return deletion_of(entry.ref, project(own, entry.after))
    return merge_patch(found, entry.back, back, ref=entry.ref)


def _object_covers(found: Object, desired: Object) -> bool:
    return covers(found, desired, MERGE_RULES.absent)


def _restore_text(journal: SchedulerJournal, seen: SchedulerState, conflicts: list[str]) -> ObjectChange | None:
    """The original byte for byte, or a conflict: what others wrote into our text is not taken apart."""
    text = journal.text
    if text is None or seen.conf is None:
        return None
    now = seen.conf.data.get(text.key, "")
    if now == text.original:
        return None
    if text.foreign or now not in (text.committed, text.previous):
        conflicts.append(_text_location(text))
        return None
    return text_change(seen.conf, text.key, text.original)


def _text_location(text: JournalText) -> str:
    return f"{text.ref.place}, key {text.key}"
