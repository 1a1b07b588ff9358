# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the Volcano agent and of managed objects, and changes of managed objects.

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
"""Name of the ServiceAccount and its roles; those of upstream's chart are named volcano-agent, and are not changed."""
CONFIG_MAP, CONFIG_KEY = "volcano-agent-configuration", "colocation-config"

POOL_LABEL = "colocation.volcano.sh/pool"
"""Label of managed Nodes, DaemonSets and pods. The prefix is not volcano.sh, whose keys the agent reads and writes."""
LAST_APPLIED = "colocation.volcano.sh/applied"
"""Annotation of managed objects with the last applied object."""
IMAGE_IDS = "colocation.volcano.sh/image-ids"
"""Annotation of pods: DaemonSets do not replace pods when only the content of an image changes."""
OWNER_LABEL, OWNER = "app.kubernetes.io/managed-by", "volcano.colocation"
APP_LABEL = "app.kubernetes.io/name"

COLOCATION_LABEL, OVERSUBSCRIPTION_LABEL = "volcano.sh/colocation", "volcano.sh/oversubscription"
"""Labels that enable the agent on a Node."""

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
    """``pending`` are changes that need permission, ``notes`` are warnings for the user."""

    steps: tuple[ObjectChange, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def create_object(desired: Object, after: Any = None) -> ObjectChange:
    """Create an object without the last-applied annotation."""
    rendered = dict(desired) if after is None else after
    return ObjectChange(Ref.of(desired), Operation.CREATE, desired, None, rendered)


def create_managed(desired: Object) -> ObjectChange:
    """Create a managed object, with the last-applied annotation."""
    return ObjectChange(
        Ref.of(desired), Operation.CREATE, with_last_applied(desired, LAST_APPLIED), None, dict(desired)
    )


def create_or_update(live: Object | None, desired: Object) -> ObjectChange | None:
    """The change of a managed object; None if it has the desired state. Fields of other clients are not changed."""
    if live is None:
        return create_managed(desired)
    applied, annotation = (
        read_last_applied(live, LAST_APPLIED),
        annotations_of(with_last_applied(desired, LAST_APPLIED))[LAST_APPLIED],
    )
    change = merge(body(live), body(desired), body(applied) if applied else {}, MERGE_RULES).change
    if not change and annotations_of(live).get(LAST_APPLIED) == annotation:
        return None
    metadata = change.get("metadata") or {}
    annotated = {**metadata, "annotations": {**(metadata.get("annotations") or {}), LAST_APPLIED: annotation}}
    patch = merge_patch(live, {**change, "metadata": annotated}, {}, ref=Ref.of(desired))
    fields = _merge_trees(applied, desired)
    before, after = project(live, fields), project(apply_patch(live, change), fields)
    return replace(patch, operation=Operation.UPDATE, before=before, after=after)


def _merge_trees(one: Any, other: Any) -> Any:
    """The union of the last applied and the desired object: a diff shows the fields of both."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {key: _merge_trees(one.get(key), other.get(key)) for key in {**other, **one}}
    return one if other is None else other


def patch_object(patch: Object, old: Any, new: Any) -> ObjectChange:
    return ObjectChange(Ref.of(patch), Operation.PATCH, patch, old, new)


def delete_object(live: Object) -> ObjectChange:
    """``live`` may also be only the kind and name of the object."""
    ref = Ref.of(live)
    return deletion_of(ref, ref.header())


def change_node_labels(name: str, old: Mapping[str, str | None], new: Mapping[str, str | None]) -> ObjectChange:
    """Change labels of a Node; None deletes a label."""
    return patch_object(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": dict(new)}},
        {"labels": {key: value for key, value in old.items() if value is not None}},
        {"labels": {key: value for key, value in new.items() if value is not None}},
    )
