# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the changes from the observed to the desired state, with their journal, and the changes that restore."""

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
from .admission_policies import MUTATING, VALIDATING, Admission, newest_version, unsupported_policy
from .conf_findings import ignored_queue_fields, lint, thresholds_above_watermarks, unknown_release
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
from .queue_starvation import online_jobs_can_starve
from .queues import check_queues, parents_first, parse_queue, queues_by_field
from .target_spec import TargetSpec
from .volcano_conf import edit_conf

MERGE_RULES = MergeRules(Absent.EMPTY, Drift.RESET)
ALL_QUEUE_FIELDS = frozenset(("weight", "capability", "deserved", "guarantee", "reclaimable", "parent"))


@dataclass(frozen=True)
class SchedulerPlan:
    """Changes in this order: journal, objects, text. ``unsupported``: policies that the API server does not support."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    journal: SchedulerJournal = field(default_factory=SchedulerJournal)
    findings: tuple[Finding, ...] = ()
    unsupported: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text)


def plan_scheduling(target: TargetSpec, state: SchedulerState, cluster_uid: str) -> SchedulerPlan:
    """The plan; ClusterError or UneditableFile, before the first change, if the target cannot be applied."""
    require_cluster(state.uid, cluster_uid, changing=False)
    if target.needs_volcano:
        check_volcano(state, target.namespace, target.deployment, target.configmap if target.conf else None)
    if target.conf:
        check_release(state)
    check_classes(target.classes, state.classes)
    if target.queues:
        known = spec_fields(state.crds[REQUIRED_CRDS[0]])
        check_queues(target.queues, map(parse_queue, state.queues), ALL_QUEUE_FIELDS if known is None else known)
    if target.conf and state.source:
        raise ClusterError(state.source, "Nothing was changed. Correct colocation_scheduler_metrics, or create it.")
    text, document = _conf_change(target, state)
    manifests = tuple(_desired_objects(target, state))
    objects, entries = _object_changes(manifests, state)
    plan = SchedulerPlan(
        objects,
        text,
        record_entries(state.journal, entries, _journal_text(text, target.key, state)),
        _findings(target, state, document),
        tuple(_unsupported_policies(target.admission, state)),
    )
    require_cluster(state.uid, cluster_uid, changing=plan.changes)
    return plan


def _conf_change(target: TargetSpec, state: SchedulerState) -> tuple[ObjectChange | None, Object | None]:
    """The change of the configuration, and the configuration after it."""
    if state.conf is None:
        return None, None
    location = f"ConfigMap {target.namespace}/{target.configmap}"
    if target.key not in state.conf.data:
        raise ClusterError(
            f"{location} has no key {target.key}", "Nothing was changed. Set colocation_scheduler_configmap_key."
        )
    before = state.conf.data[target.key]
    try:
        after = edit_conf(before, target.conf) if target.conf else before
        document = read_yaml(after)
    except EditError as error:
        raise UneditableFile(f"{location}, key {target.key}", error) from error
    return (text_change(state.conf, target.key, after) if after != before else None), document


def _journal_text(text: ObjectChange | None, key: str, state: SchedulerState) -> JournalText | None:
    return record_text(state.journal.text, text.ref, key, text.before, text.after) if text else None


def _desired_objects(target: TargetSpec, state: SchedulerState) -> Iterator[Object]:
    """All objects, each after those that it refers to."""
    yield from (priority_class.manifest() for priority_class in target.classes)
    yield from (queue.manifest() for queue in parents_first(target.queues))
    if target.admission:
        version = newest_version(VALIDATING, state.served.get(VALIDATING, ()))
        if target.admission.validate and version:
            yield from admission_policies.render_validating(target.admission, version)
        version = newest_version(MUTATING, state.served.get(MUTATING, ()))
        if target.admission.mutate and version:
            yield from admission_policies.render_mutating(target.admission, version)


def _unsupported_policies(admission: Admission | None, state: SchedulerState) -> Iterator[str]:
    if admission is None:
        return
    for kind, requested in ((VALIDATING, admission.validate), (MUTATING, admission.mutate)):
        if requested and newest_version(kind, state.served.get(kind, ())) is None:
            yield unsupported_policy(kind)


def _object_changes(
    manifests: tuple[Object, ...], state: SchedulerState
) -> tuple[tuple[ObjectChange, ...], tuple[JournalEntry, ...]]:
    changes, entries = [], []
    new: set[str] = set()
    for manifest in manifests:
        ref = Ref.of(manifest)
        entry, live = state.journal.entry(ref), state.live(ref)
        # Volcano's webhook looks up a queue's parent, and refuses the queue in a dry run, which creates no parent.
        dry = (manifest.get("spec") or {}).get("parent") not in new
        if live is None:
            new.add(ref.name)
            changes.append(creation_of(manifest, dry=dry))
            entries.append(JournalEntry(ref, created=True, back={}, after=body(manifest)))
            continue
        needed = merge(body(live), body(manifest), entry.after if entry else {}, MERGE_RULES, _undo(entry)).change
        if not needed:
            continue
        after = apply_patch(body(live), needed)
        changes.append(merge_patch(live, needed, after, ref=ref, dry=dry))
        back = undo_patch(body(live), needed)
        if entry:
            back = combine_undo(entry.back, back)
        entries.append(JournalEntry(ref, bool(entry and entry.created), back, body(manifest)))
    return tuple(changes), tuple(entries)


def _undo(entry: JournalEntry | None) -> Object:
    """The merge patch that reverts the collection's fields: it removes them from an object that it created."""
    if entry is None:
        return {}
    undo: Object = removal_patch(entry.after) if entry.created else entry.back
    return undo


def _findings(target: TargetSpec, state: SchedulerState, document: Object | None) -> tuple[Finding, ...]:
    if document is None:
        return ()
    location = f"ConfigMap {target.namespace}/{target.configmap}"
    usage = target.conf.usage if target.conf else None
    return (
        *unknown_release(state.release, state.image),
        *lint(location, document),
        *thresholds_above_watermarks(usage, target.watermarks),
        *ignored_queue_fields(document, queues_by_field(target.queues), state.release),
        *online_jobs_can_starve(document, target.queues, map(parse_queue, state.queues)),
    )


@dataclass(frozen=True)
class SchedulingRestorePlan:
    """Changes in this order: the text, the objects, the deletion of the journal."""

    objects: tuple[ObjectChange, ...] = ()
    text: ObjectChange | None = None
    forget: bool = False

    @property
    def changes(self) -> bool:
        return bool(self.objects or self.text or self.forget)


def plan_restore(state: SchedulerState, cluster_uid: str) -> SchedulingRestorePlan:
    """The changes that restore; ClusterError with all conflicts, and then nothing is restored."""
    require_cluster(state.uid, cluster_uid, changing=state.journal_version is not None)
    conflicts: list[str] = []
    objects = [_restore_object(entry, state, conflicts) for entry in reversed(state.journal.entries)]
    text = _restore_text(state.journal, state, conflicts)
    if conflicts:
        raise ClusterError(
            f"Another client changed objects since the last run: {'; '.join(conflicts)}",
            "Nothing was restored. Undo these changes and run again, or restore everything by hand and delete the"
            " ConfigMap volcano-colocation-scheduler, which has the previous state.",
        )
    return SchedulingRestorePlan(tuple(change for change in objects if change), text, state.journal_version is not None)


def _restore_object(entry: JournalEntry, state: SchedulerState, conflicts: list[str]) -> ObjectChange | None:
    live = state.live(entry.ref)
    if live is None:
        return None
    content = body(live)
    back = apply_patch(content, entry.back)
    if not entry.created and _object_covers(back, content) and _object_covers(content, back):
        return None
    if not _object_covers(content, entry.after):
        conflicts.append(entry.ref.place)
        return None
    if entry.created:
        return deletion_of(entry.ref, project(content, entry.after))
    return merge_patch(live, entry.back, back, ref=entry.ref)


def _object_covers(actual: Object, desired: Object) -> bool:
    return covers(actual, desired, MERGE_RULES.absent)


def _restore_text(journal: SchedulerJournal, state: SchedulerState, conflicts: list[str]) -> ObjectChange | None:
    """The original text, or a conflict: changes of other clients are not separated from those of the collection."""
    text = journal.text
    if text is None or state.conf is None:
        return None
    current = state.conf.data.get(text.key, "")
    if current == text.original:
        return None
    if text.foreign or current not in (text.committed, text.previous):
        conflicts.append(_text_location(text))
        return None
    return text_change(state.conf, text.key, text.original)


def _text_location(text: JournalText) -> str:
    return f"{text.ref.place}, key {text.key}"
