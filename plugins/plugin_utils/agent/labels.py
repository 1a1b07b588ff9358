# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels that turn the agent on, a step of its own at the end: from then on it may evict pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from ..kube.changes import ObjectChange
from ..kube.errors import ClusterError
from .feature import Feature
from .journal import Journal, written
from .names import COLOCATION, OVERSUBSCRIPTION
from .pools import NOTHING_DONE, Pool
from .seen import AgentSeen, LiveNode
from .steps import Plan, create, node_labels, patch

ON = "true"
SWITCHES = (COLOCATION, OVERSUBSCRIPTION)
EVICTS = (
    "once a Node has them the agent reports its idle resources, and evicts offline pods when the Node's use passes the"
    " high watermarks"
)
EVICTS_AT_THE_END = "when a Node loses them the agent evicts the pods that use oversubscribed resources there"


class Permission(Enum):
    """What the user says of labels: nothing, which stops a run that needs it; set them; leave them."""

    UNSAID = None
    GIVEN = True
    DENIED = False


def wanted_labels(pools: Sequence[Pool]) -> dict[str, tuple[str, ...]]:
    """The labels of each pool's Nodes. Oversubscription implies colocation: config/utils/utils.go MergerCfg."""
    return {pool.name: SWITCHES if Feature.OVERSUBSCRIPTION in pool.kind.features else (COLOCATION,) for pool in pools}


def missing(seen: AgentSeen, places: Mapping[str, str], pools: Sequence[Pool]) -> dict[str, tuple[str, ...]]:
    """Labels that each Node lacks."""
    wanted = wanted_labels(pools)
    found = {
        node.name: tuple(key for key in wanted[places[node.name]] if node.labels.get(key) != ON)
        for node in seen.nodes
        if node.name in places
    }
    return {name: keys for name, keys in found.items() if keys}


def pending_labels(
    seen: AgentSeen, places: Mapping[str, str], pools: Sequence[Pool], permission: Permission
) -> tuple[str, ...]:
    """What waits for the permission. Not said at all, it stops the run before its first change."""
    lacking = missing(seen, places, pools)
    if not lacking or permission is Permission.GIVEN:
        return ()
    told = tuple(f"Node {name}: {', '.join(f'{key}={ON}' for key in keys)}" for name, keys in lacking.items())
    _stop(permission, told, EVICTS)
    return told


def _stop(permission: Permission, told: Sequence[str], why: str) -> None:
    if permission is Permission.UNSAID:
        raise ClusterError(
            f"Labels of Nodes have to change, and {why}: {'; '.join(told)}",
            f"{NOTHING_DONE} Set colocation_agent_label_nodes to true to do it, or to false to do everything else.",
        )


def label_plan(
    seen: AgentSeen, places: Mapping[str, str], pools: Sequence[Pool], permission: Permission, namespace: str
) -> Plan:
    """The step that turns the agent on."""
    pending = pending_labels(seen, places, pools, permission)
    lacking = missing(seen, places, pools)
    if pending or not lacking:
        return Plan(pending=pending)
    nodes = {node.name: node for node in seen.nodes}
    known = seen.journal or Journal()
    before = {name: dict(values) for name, values in known.labels.items()}
    for name, keys in lacking.items():
        for key in keys:
            before.setdefault(name, {}).setdefault(key, nodes[name].labels.get(key))
    steps = [*_noted(seen, replace(known, labels=before), namespace)]
    for name, keys in lacking.items():
        steps.append(node_labels(name, {key: nodes[name].labels.get(key) for key in keys}, dict.fromkeys(keys, ON)))
    return Plan(tuple(steps), notes=(f"Labelled: {EVICTS}.",))


def unlabel_plan(seen: AgentSeen, permission: Permission) -> Plan:
    """The step that turns it off: labels that we set become what they were. What others have set since stays."""
    changes = dict(_ours(seen))
    told = tuple(f"Node {name}: {', '.join(keys)}" for name, keys in changes.items())
    if not changes:
        return Plan()
    if permission is not Permission.GIVEN:
        _stop(permission, told, EVICTS_AT_THE_END)
        return Plan(pending=told)
    return Plan(tuple(node_labels(name, dict.fromkeys(new, ON), new) for name, new in changes.items()))


def _ours(seen: AgentSeen) -> Iterator[tuple[str, dict[str, str | None]]]:
    before = seen.journal.labels if seen.journal else {}
    for node in seen.nodes:
        new = {key: value for key, value in before.get(node.name, {}).items() if _is_ours(node, key, value)}
        if new:
            yield node.name, new


def _is_ours(node: LiveNode, key: str, before: str | None) -> bool:
    return node.labels.get(key) == ON != before


def _noted(seen: AgentSeen, journal: Journal, namespace: str) -> Iterator[ObjectChange]:
    """The journal, before what it speaks of. A dry run has not made it."""
    if seen.journal is None:
        body = written(journal, namespace)
        yield create(body)
    elif journal != seen.journal:
        body = written(journal, namespace)
        yield patch(body, written(seen.journal, namespace), body)
