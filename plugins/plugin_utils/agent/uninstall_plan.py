# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that removes the agent, and restores the state before its deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kube.object_changes import ObjectChange, Operation
from ..kube.objects import Ref
from .colocation_config import LOCATION, is_written_by_agents, render_journal, restore_config
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


def plan_uninstall(state: AgentState, namespace: str, permission: LabelPermission) -> AgentPlan:
    """The plan. Agents are deleted before their values on Nodes, since running ones would write the values again.

    Labels should be removed before, in a separate step, while agents still run and clean up themselves. Remaining
    labels are removed here. The namespace is not deleted: it may contain objects of other clients.
    """
    labels = plan_label_removal(state, permission)
    config, notes = _config_changes(state, namespace)
    off = {step.ref.name: step.body["metadata"]["labels"] for step in labels.steps}
    steps = [
        *(delete_object(daemon_set) for daemon_set in state.daemon_sets if is_managed(daemon_set)),
        *_node_changes(state, off, keep=bool(labels.pending)),
        *(delete_object(configuration) for configuration in state.configurations or () if is_managed(configuration)),
        *config,
        *(
            delete_object(manifest)
            for manifest in reversed(render_access(namespace))
            if is_managed(state.objects.get(Ref.of(manifest)))
        ),
        *_journal_changes(state, namespace, keep=bool(labels.pending)),
    ]
    return AgentPlan(tuple(steps), labels.pending, notes)


def _node_changes(
    state: AgentState, off: Mapping[str, Mapping[str, str | None]], *, keep: bool
) -> Iterator[ObjectChange]:
    """Remove an agent's values from Nodes of pools: one patch of each Node, and one of its status."""
    for node in state.nodes:
        if POOL_LABEL not in node.labels:
            continue
        labels = {} if keep else {**off.get(node.name, {}), POOL_LABEL: None}
        old, new = _old(node, labels), _new(node, labels)
        if old != new:
            yield replace(patch_object(_patch(node, labels), old, new), observed=node.observed)
        if node.listed:
            removed = dict.fromkeys(node.listed)
            body = {**_node_header(node), "status": {"capacity": removed, "allocatable": removed}}
            yield ObjectChange(Ref.of(body), Operation.STATUS, body, {"status": dict(node.listed)}, {"status": {}})


def _node_header(node: LiveNode, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, **metadata}}


def _remaining_taints(node: LiveNode) -> list[dict[str, Any]]:
    return [dict(taint) for taint in node.taints if taint.get("key") != EVICTING_TAINT]


def _patch(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    """The patch of a Node. Taints are replaced as a whole list, so only such patches require the version that was read.

    Kubelet updates its Node's status all the time. With ``ObjectChange.found``, such a conflict is retried.
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
        "taints": [dict(taint) for taint in node.taints],
    }


def _new(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    restored = {key: value for key, value in labels.items() if value is not None}
    return {"labels": restored, "annotations": {}, "taints": _remaining_taints(node)}


def _config_changes(state: AgentState, namespace: str) -> tuple[Sequence[ObjectChange], tuple[str, ...]]:
    """Restore the configuration; delete the ConfigMap if it did not exist before and no other client needs it."""
    journal = state.journal
    if journal is None or journal.committed is None or state.config_map is None or state.text is None:
        return (), ()
    text, foreign = restore_config(state.text, journal.original, journal.committed, journal.preserved)
    notes = tuple(f"{LOCATION}: {value}; it is not changed" for value in foreign)
    if text == state.text:
        return (), notes
    metadata = {"name": CONFIG_MAP, "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    unused = text is None or is_written_by_agents(text)
    if unused and not journal.existed and set(state.config_map["data"]) == {CONFIG_KEY}:
        return (delete_object(body),), notes
    version = state.config_map["metadata"]["resourceVersion"]
    body = {**body, "metadata": {**metadata, "resourceVersion": version}, "data": {CONFIG_KEY: text}}
    return (patch_object(body, state.text, text),), notes


def _journal_changes(state: AgentState, namespace: str, *, keep: bool) -> Iterator[ObjectChange]:
    """Delete the journal as the last step; not while labels of Nodes still have to be restored."""
    if state.journal is not None and not keep:
        yield delete_object(render_journal(state.journal, namespace))
