# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: everything of the agent goes, and what was there before it is there again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .compare import is_ours
from .config_map import PLACE, without
from .journal import written
from .labels import Permission, unlabel_plan
from .names import CONFIG_MAP, KEY, POOL, REPORTED, TAINT
from .objects import access
from .seen import AgentSeen, LiveNode, ref
from .steps import Plan, Step, Verb, delete, merge, node_labels


def removal_plan(seen: AgentSeen, namespace: str, permission: Permission) -> Plan:
    """The plan; the step that takes labels away comes before, so that agents still run and clean up themselves.

    Then they go, before what they have left is cleaned, since they would write it again.

    The namespace stays: others may have put something into it.
    """
    labels = unlabel_plan(seen, permission)
    pending = labels.pending
    config, notes = _config(seen, namespace)
    steps = [
        *labels.steps,
        *(delete(each) for each in seen.daemon_sets if is_ours(each)),
        *_nodes(seen, keep=bool(pending)),
        *(delete(each) for each in seen.configurations or () if is_ours(each)),
        *config,
        *(delete(each) for each in reversed(access(namespace)) if is_ours(seen.objects.get(ref(each)))),
        *_journal(seen, namespace, keep=bool(pending)),
    ]
    return Plan(tuple(steps), pending, notes)


def _nodes(seen: AgentSeen, *, keep: bool) -> Iterator[Step]:
    """What an agent leaves on the Nodes that had one."""
    for node in seen.nodes:
        if POOL not in node.labels:
            continue
        yield from _taint(node)
        yield from _annotations(node)
        if node.reported:
            gone = dict.fromkeys(node.reported)
            body = {**_node(node), "status": {"capacity": gone, "allocatable": gone}}
            yield Step(Verb.STATUS, body, {"status": dict(node.reported)}, {"status": {}})
        if not keep:
            yield node_labels(node.name, {POOL: node.labels[POOL]}, {POOL: None})


def _node(node: LiveNode, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, **metadata}}


def _taint(node: LiveNode) -> Iterator[Step]:
    """The whole list is written, so that the version that was read has to be the one that is replaced."""
    left = [dict(each) for each in node.taints if each.get("key") != TAINT]
    if len(left) != len(node.taints):
        body = {**_node(node, resourceVersion=node.version), "spec": {"taints": left}}
        yield merge(body, {"taints": [dict(each) for each in node.taints]}, {"taints": left})


def _annotations(node: LiveNode) -> Iterator[Step]:
    found = {key: node.annotations[key] for key in REPORTED if key in node.annotations}
    if found:
        yield merge(_node(node, annotations=dict.fromkeys(found)), {"annotations": found}, {"annotations": {}})


def _config(seen: AgentSeen, namespace: str) -> tuple[Sequence[Step], tuple[str, ...]]:
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
    return (merge(body, seen.text, text),), notes


def _journal(seen: AgentSeen, namespace: str, *, keep: bool) -> Iterator[Step]:
    """Last of all; it is kept while labels of Nodes wait to be put back."""
    if seen.journal is not None and not keep:
        yield delete(written(seen.journal, namespace))
