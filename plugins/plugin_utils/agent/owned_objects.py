# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the Volcano agent and of the objects of the collection, and changes of such objects.

Sources: volcano pkg/agent/apis/types.go, pkg/agent/config/utils/utils.go, installer/helm/chart/volcano.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..kube.last_applied import annotations_of, read_last_applied, with_last_applied
from ..kube.object_changes import ObjectChange, Operation, deletion_of, merge_patch
from ..kube.objects import Object, Ref, apply_patch, body, project
from ..kube.three_way_merge import Absent, Drift, MergeRules, merge

AGENT_NAME = "volcano-agent"
ACCOUNT = "volcano-colocation-agent"
"""The ServiceAccount and its roles. Upstream's chart calls its own volcano-agent, and keeps them."""
CONFIG_MAP, CONFIG_KEY = "volcano-agent-configuration", "colocation-config"

POOL_LABEL = "colocation.volcano.sh/pool"
"""Our label of Nodes, DaemonSets and pods. Its prefix is not volcano.sh, whose keys the agent reads and writes."""
LAST_APPLIED = "colocation.volcano.sh/applied"
"""Annotation of our objects with what was applied last."""
OWNER_LABEL, OWNER = "app.kubernetes.io/managed-by", "volcano.colocation"
APP_LABEL = "app.kubernetes.io/name"

COLOCATION_LABEL, OVERSUBSCRIPTION_LABEL = "volcano.sh/colocation", "volcano.sh/oversubscription"
"""Labels of Nodes that turn the agent on there."""

EVICTING_TAINT = "volcano.sh/offline-job-evicting"
REPORTED_ANNOTATIONS = (
    EVICTING_TAINT,
    "volcano.sh/oversubscription-types",
    "volcano.sh/oversubscription-cpu",
    "volcano.sh/oversubscription-memory",
)
"""Annotations that an agent leaves on its Node."""
BATCH_CPU, BATCH_MEMORY = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"

CNI_PLUGIN_DIRECTORY = "/opt/cni/bin"


MERGE_RULES = MergeRules(Absent.DIFFERS, Drift.RESET)


@dataclass(frozen=True)
class AgentPlan:
    """``pending`` is what was left for want of a permission, ``notes`` what somebody should know."""

    steps: tuple[ObjectChange, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def create_object(desired: Object, after: Any = None) -> ObjectChange:
    """An object as it is, without a note of what was applied."""
    rendered = dict(desired) if after is None else after
    return ObjectChange(Ref.of(desired), Operation.CREATE, desired, None, rendered)


def create_managed(desired: Object) -> ObjectChange:
    """An object that is ours, with a note of what was applied."""
    return ObjectChange(
        Ref.of(desired), Operation.CREATE, with_last_applied(desired, LAST_APPLIED), None, dict(desired)
    )


def create_or_update(live: Object | None, desired: Object) -> ObjectChange | None:
    """Of an object that is ours; None where it says all that is desired. What other clients have added stays."""
    if live is None:
        return create_managed(desired)
    applied, note = (
        read_last_applied(live, LAST_APPLIED),
        annotations_of(with_last_applied(desired, LAST_APPLIED))[LAST_APPLIED],
    )
    change = merge(body(live), body(desired), body(applied) if applied else {}, MERGE_RULES).change
    if not change and annotations_of(live).get(LAST_APPLIED) == note:
        return None
    metadata = change.get("metadata") or {}
    marked = {**metadata, "annotations": {**(metadata.get("annotations") or {}), LAST_APPLIED: note}}
    sent = merge_patch(live, {**change, "metadata": marked}, {}, ref=Ref.of(desired))
    shape = _merge_trees(applied, desired)
    before, after = project(live, shape), project(apply_patch(live, change), shape)
    return replace(sent, operation=Operation.UPDATE, before=before, after=after)


def _merge_trees(one: Any, other: Any) -> Any:
    """What was applied last and what is desired: a diff shows both."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {key: _merge_trees(one.get(key), other.get(key)) for key in {**other, **one}}
    return one if other is None else other


def patch_object(sent: Object, old: Any, new: Any) -> ObjectChange:
    return ObjectChange(Ref.of(sent), Operation.PATCH, sent, old, new)


def delete_object(live: Object) -> ObjectChange:
    """``live`` or its kind and name."""
    ref = Ref.of(live)
    return deletion_of(ref, ref.header())


def change_node_labels(name: str, old: Mapping[str, str | None], new: Mapping[str, str | None]) -> ObjectChange:
    """Labels of a Node; None takes one away."""
    return patch_object(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(new)}},
        {"labels": {key: value for key, value in old.items() if value is not None}},
        {"labels": {key: value for key, value in new.items() if value is not None}},
    )
