# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that bring the agent's objects to what is desired, in the order of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..kube.changes import ObjectChange, Operation, deletion, patch_of
from ..kube.last_applied import annotations_of, read_note, with_note
from ..kube.merge import Absent, Drift, MergeRules, merge
from ..kube.objects import Object, Ref, body, patched, projected
from .names import APPLIED

RULES = MergeRules(Absent.DIFFERS, Drift.RESET)


@dataclass(frozen=True)
class Plan:
    """``pending`` is what was left for want of a permission, ``notes`` what somebody should know."""

    steps: tuple[ObjectChange, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def create(desired: Object, after: Any = None) -> ObjectChange:
    """An object as it is, without a note of what was applied."""
    shown = dict(desired) if after is None else after
    return ObjectChange(Ref.of(desired), Operation.CREATE, desired, None, shown)


def create_owned(desired: Object) -> ObjectChange:
    """An object that is ours, with a note of what was applied."""
    return ObjectChange(Ref.of(desired), Operation.CREATE, with_note(desired, APPLIED), None, dict(desired))


def create_or_update(live: Object | None, desired: Object) -> ObjectChange | None:
    """Of an object that is ours; None where it says all that is desired. What other clients have added stays."""
    if live is None:
        return create_owned(desired)
    applied, note = read_note(live, APPLIED), annotations_of(with_note(desired, APPLIED))[APPLIED]
    change = merge(body(live), body(desired), body(applied) if applied else {}, RULES).change
    if not change and annotations_of(live).get(APPLIED) == note:
        return None
    metadata = change.get("metadata") or {}
    marked = {**metadata, "annotations": {**(metadata.get("annotations") or {}), APPLIED: note}}
    sent = patch_of(live, {**change, "metadata": marked}, {}, ref=Ref.of(desired))
    shape = _joined(applied, desired)
    before, after = projected(live, shape), projected(patched(live, change), shape)
    return replace(sent, operation=Operation.UPDATE, before=before, after=after)


def _joined(one: Any, other: Any) -> Any:
    """What was applied last and what is desired: a diff shows both."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {key: _joined(one.get(key), other.get(key)) for key in {**other, **one}}
    return one if other is None else other


def patch(sent: Object, old: Any, new: Any) -> ObjectChange:
    return ObjectChange(Ref.of(sent), Operation.PATCH, sent, old, new)


def delete(live: Object) -> ObjectChange:
    """``live`` or its kind and name."""
    ref = Ref.of(live)
    return deletion(ref, ref.header())


def node_labels(name: str, old: Mapping[str, str | None], new: Mapping[str, str | None]) -> ObjectChange:
    """Labels of a Node; None takes one away."""
    return patch(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(new)}},
        {"labels": {key: value for key, value in old.items() if value is not None}},
        {"labels": {key: value for key, value in new.items() if value is not None}},
    )
