# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: everything of the agent goes, and what was there before it is there again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..kube.changes import ObjectChange, Operation
from ..kube.objects import Ref
from .config_map import PLACE, without
from .journal import written
from .labels import Permission, unlabel_plan
from .names import CONFIG_MAP, KEY, POOL, REPORTED, TAINT
from .objects import access
from .seen import AgentSeen, LiveNode, is_ours
from .steps import Plan, delete, patch


def removal_plan(seen: AgentSeen, namespace: str, permission: Permission) -> Plan:
    """The plan. Agents go before what they have left is cleaned, since they would write it again.

    Labels should have gone in a step of their own, while agents still ran and cleaned up themselves; those that are
    left go with the rest. The namespace stays: others may have put something into it.
    """
    labels = unlabel_plan(seen, permission)
    config, notes = _config(seen, namespace)
    off = {step.ref.name: step.body["metadata"]["labels"] for step in labels.steps}
    steps = [
        *(delete(each) for each in seen.daemon_sets if is_ours(each)),
        *_nodes(seen, off, keep=bool(labels.pending)),
        *(delete(each) for each in seen.configurations or () if is_ours(each)),
        *config,
        *(delete(each) for each in reversed(access(namespace)) if is_ours(seen.objects.get(Ref.of(each)))),
        *_journal(seen, namespace, keep=bool(labels.pending)),
    ]
    return Plan(tuple(steps), labels.pending, notes)


def _nodes(seen: AgentSeen, off: Mapping[str, Mapping[str, str | None]], *, keep: bool) -> Iterator[ObjectChange]:
    """What an agent leaves on the Nodes that had one: a patch of each, and one of its status."""
    for node in seen.nodes:
        if POOL not in node.labels:
            continue
        labels = {} if keep else {**off.get(node.name, {}), POOL: None}
        old, new = _old(node, labels), _new(node, labels)
        if old != new:
            yield replace(patch(_patch(node, labels), old, new), found=node.found)
        if node.listed:
            gone = dict.fromkeys(node.listed)
            body = {**_named(node), "status": {"capacity": gone, "allocatable": gone}}
            yield ObjectChange(Ref.of(body), Operation.STATUS, body, {"status": dict(node.listed)}, {"status": {}})


def _named(node: LiveNode, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, **metadata}}


def _left(node: LiveNode) -> list[dict[str, Any]]:
    return [dict(each) for each in node.taints if each.get("key") != TAINT]


def _patch(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    """Taints are written as a whole list, so that the version that was read has to be the one that is replaced.

    Only then: kubelet writes to its Node all the time. That alone is no reason to give up: ``ObjectChange.found``.
    """
    annotations = {key: None for key in REPORTED if key in node.annotations}
    keys = {"labels": dict(labels), "annotations": annotations}
    if len(_left(node)) == len(node.taints):
        return _named(node, **keys)
    return {**_named(node, **keys, resourceVersion=node.version), "spec": {"taints": _left(node)}}


def _old(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    return {
        "labels": {key: node.labels[key] for key in labels if key in node.labels},
        "annotations": {key: node.annotations[key] for key in REPORTED if key in node.annotations},
        "taints": [dict(each) for each in node.taints],
    }


def _new(node: LiveNode, labels: Mapping[str, str | None]) -> dict[str, Any]:
    kept = {key: value for key, value in labels.items() if value is not None}
    return {"labels": kept, "annotations": {}, "taints": _left(node)}


def _config(seen: AgentSeen, namespace: str) -> tuple[Sequence[ObjectChange], tuple[str, ...]]:
    """The configuration as it was; the ConfigMap itself goes if it was not there and holds nothing else."""
    journal = seen.journal
    if journal is None or journal.committed is None or seen.config_map is None or seen.text is None:
        return (), ()
    text, foreign = without(seen.text, journal.original, journal.committed, journal.kept)
    notes = tuple(f"{PLACE}: {each}; it stays" for each in foreign)
    if text == seen.text:
        return (), notes
    metadata = {"name": CONFIG_MAP, "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if text is None and not journal.existed and set(seen.config_map["data"]) == {KEY}:
        return (delete(body),), notes
    version = seen.config_map["metadata"]["resourceVersion"]
    body = {**body, "metadata": {**metadata, "resourceVersion": version}, "data": {KEY: text}}
    return (patch(body, seen.text, text),), notes


def _journal(seen: AgentSeen, namespace: str, *, keep: bool) -> Iterator[ObjectChange]:
    """Last of all; it is kept while labels of Nodes wait to be put back."""
    if seen.journal is not None and not keep:
        yield delete(written(seen.journal, namespace))
