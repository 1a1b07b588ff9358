# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that removes the agent, and restores what was there before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kube.object_changes import ObjectChange, Operation
from ..kube.objects import Ref
from .colocation_config import LOCATION, render_journal, restore_config
from .installed_agent import AgentState, LiveNode, is_managed
from .manifests import render_access
from .node_labels import LabelPermission, plan_label_removal
from .owned_objects import (
    CONFIG_KEY,
    CONFIG_MAP,
    EVICTING_TAINT,
    POOL_LABEL,
    REPORTED_ANNOTATIONS,
    AgentPlan,
    delete_object,
    patch_object,
)


def plan_uninstall(seen: AgentState, namespace: str, permission: LabelPermission) -> AgentPlan:
    """The plan. Agents go before what they have left is cleaned, since they would write it again.

    Labels should have gone in a step of their own, while agents still ran and cleaned up themselves; those that are
    left go with the rest. The namespace stays: others may have put something into it.
    """
    labels = plan_label_removal(seen, permission)
    config, notes = _config_changes(seen, namespace)
    off = {step.ref.name: step.body["metadata"]["labels"] for step in labels.steps}
    steps = [
        *(delete_object(each) for each in seen.daemon_sets if is_managed(each)),
        *_node_changes(seen, off, keep=bool(labels.pending)),
        *(delete_object(each) for each in seen.configurations or () if is_managed(each)),
        *config,
        *(
            delete_object(each)
            for each in reversed(render_access(namespace))
            if is_managed(seen.objects.get(Ref.of(each)))
        ),
        *_journal_changes(seen, namespace, keep=bool(labels.pending)),
    ]
    return AgentPlan(tuple(steps), labels.pending, notes)


def _node_changes(
    seen: AgentState, off: Mapping[str, Mapping[str, str | None]], *, keep: bool
) -> Iterator[ObjectChange]:
    """What an agent leaves on the Nodes that had one: a patch of each, and one of its status."""
    for node in seen.nodes:
        if POOL_LABEL not in node.labels:
            continue
        labels = {} if keep else {**off.get(node.name, {}), POOL_LABEL: None}
        old, new = _old(node, labels), _new(node, labels)
        if old != new:
            yield replace(patch_object(_patch(node, labels), old, new), observed=node.found)
        if node.listed:
            gone = dict.fromkeys(node.listed)
            body = {**_node_header(node), "status": {"capacity": gone, "allocatable": gone}}
            yield ObjectChange(Ref.of(body), Operation.STATUS, body, {"status": dict(node.listed)}, {"status": {}})


def _node_header(node: LiveNode, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, **metadata}}


def _remaining_taints(node: LiveNode) -> list[dict[str, Any]]:
    return [dict(each) for each in node.taints if each.get("key") != EVICTING_TAINT]


def _patch(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    """Taints are written as a whole list, so that the version that was read has to be the one that is replaced.

    Only then: kubelet writes to its Node all the time. That alone is no reason to give up: ``ObjectChange.observed``.
    """
    annotations = {key: None for key in REPORTED_ANNOTATIONS if key in node.annotations}
    keys = {"labels": dict(labels), "annotations": annotations}
    if len(_remaining_taints(node)) == len(node.taints):
        return _node_header(node, **keys)
    return {**_node_header(node, **keys, resourceVersion=node.version), "spec": {"taints": _remaining_taints(node)}}


def _old(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    return {
        "labels": {key: node.labels[key] for key in labels if key in node.labels},
        "annotations": {key: node.annotations[key] for key in REPORTED_ANNOTATIONS if key in node.annotations},
        "taints": [dict(each) for each in node.taints],
    }


def _new(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    kept = {key: value for key, value in labels.items() if value is not None}
    return {"labels": kept, "annotations": {}, "taints": _remaining_taints(node)}


def _config_changes(seen: AgentState, namespace: str) -> tuple[Sequence[ObjectChange], tuple[str, ...]]:
    """The configuration as it was; the ConfigMap itself goes if it was not there and holds nothing else."""
    journal = seen.journal
    if journal is None or journal.committed is None or seen.config_map is None or seen.text is None:
        return (), ()
    text, foreign = restore_config(seen.text, journal.original, journal.committed, journal.kept)
    notes = tuple(f"{LOCATION}: {each}; it stays" for each in foreign)
    if text == seen.text:
        return (), notes
    metadata = {"name": CONFIG_MAP, "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if text is None and not journal.existed and set(seen.config_map["data"]) == {CONFIG_KEY}:
        return (delete_object(body),), notes
    version = seen.config_map["metadata"]["resourceVersion"]
    body = {**body, "metadata": {**metadata, "resourceVersion": version}, "data": {CONFIG_KEY: text}}
    return (patch_object(body, seen.text, text),), notes


def _journal_changes(seen: AgentState, namespace: str, *, keep: bool) -> Iterator[ObjectChange]:
    """Last of all; it is kept while labels of Nodes wait to be put back."""
    if seen.journal is not None and not keep:
        yield delete_object(render_journal(seen.journal, namespace))
