# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels that enable the agent on Nodes. They are set in a separate last step: then the agent may evict pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from ..kube.api_errors import ClusterError
from .colocation_config import AgentJournal, change_journal
from .features import Feature
from .installed_agent import AgentState, LiveNode
from .owned_objects import (
    COLOCATION_LABEL,
    OVERSUBSCRIPTION_LABEL,
    AgentPlan,
    change_node_labels,
)
from .pools import UNCHANGED, Pool

LABEL_ON = "true"
SWITCH_LABELS = (COLOCATION_LABEL, OVERSUBSCRIPTION_LABEL)
EVICTION_NOTE = (
    "once a Node has them, the agent reports its idle resources, and evicts offline pods when the Node's usage exceeds"
    " the high watermarks"
)
UNLABEL_EVICTION_NOTE = (
    "when they are removed from a Node, the agent evicts the Node's pods that use oversubscribed resources"
)


class LabelPermission(Enum):
    """The option label_nodes: not set, which stops a run that needs it; change labels; do not change them."""

    NOT_SET = None
    GRANTED = True
    DENIED = False


def desired_labels(pools: Sequence[Pool]) -> dict[str, tuple[str, ...]]:
    """Labels of Nodes by pool. Oversubscription implies colocation: config/utils/utils.go MergerCfg."""
    return {
        pool.name: SWITCH_LABELS if Feature.OVERSUBSCRIPTION in pool.kind.features else (COLOCATION_LABEL,)
        for pool in pools
    }


def missing_labels(
    state: AgentState, node_pools: Mapping[str, str], pools: Sequence[Pool]
) -> dict[str, tuple[str, ...]]:
    """Missing labels by the Node's name, only for Nodes that lack some."""
    desired = desired_labels(pools)
    missing = {
        node.name: tuple(key for key in desired[node_pools[node.name]] if node.labels.get(key) != LABEL_ON)
        for node in state.nodes
        if node.name in node_pools
    }
    return {name: keys for name, keys in missing.items() if keys}


def pending_labels(
    state: AgentState, node_pools: Mapping[str, str], pools: Sequence[Pool], permission: LabelPermission
) -> tuple[str, ...]:
    """Changes without permission. ClusterError, before the first change, if the permission is not set."""
    missing = missing_labels(state, node_pools, pools)
    if not missing or permission is LabelPermission.GRANTED:
        return ()
    pending = tuple(f"Node {name}: {', '.join(f'{key}={LABEL_ON}' for key in keys)}" for name, keys in missing.items())
    _require_permission(permission, pending, EVICTION_NOTE)
    return pending


def _require_permission(permission: LabelPermission, pending: Sequence[str], why: str) -> None:
    if permission is LabelPermission.NOT_SET:
        raise ClusterError(
            f"Labels of Nodes must change, and {why}: {'; '.join(pending)}",
            f"{UNCHANGED} Set colocation_agent_label_nodes to true to change them, or to false to skip only this step.",
        )


def plan_labels(
    state: AgentState, node_pools: Mapping[str, str], pools: Sequence[Pool], permission: LabelPermission, namespace: str
) -> AgentPlan:
    """The step that enables the agent."""
    pending = pending_labels(state, node_pools, pools, permission)
    missing = missing_labels(state, node_pools, pools)
    if pending or not missing:
        return AgentPlan(pending=pending)
    nodes = {node.name: node for node in state.nodes}
    known = state.journal or AgentJournal()
    before = {name: dict(values) for name, values in known.labels.items()}
    for name, keys in missing.items():
        for key in keys:
            before.setdefault(name, {}).setdefault(key, nodes[name].labels.get(key))
    steps = [*change_journal(state.journal, state.journal_version, replace(known, labels=before), namespace)]
    for name, keys in missing.items():
        steps.append(
            change_node_labels(name, {key: nodes[name].labels.get(key) for key in keys}, dict.fromkeys(keys, LABEL_ON))
        )
    return AgentPlan(tuple(steps), notes=(f"Labelled: {EVICTION_NOTE}.",))


def plan_label_removal(state: AgentState, permission: LabelPermission) -> AgentPlan:
    """The step that disables the agent: restore managed labels, except those that another client changed since."""
    changes = dict(_managed_labels(state))
    pending = tuple(f"Node {name}: {', '.join(keys)}" for name, keys in changes.items())
    if not changes:
        return AgentPlan()
    if permission is not LabelPermission.GRANTED:
        _require_permission(permission, pending, UNLABEL_EVICTION_NOTE)
        return AgentPlan(pending=pending)
    return AgentPlan(
        tuple(change_node_labels(name, dict.fromkeys(new, LABEL_ON), new) for name, new in changes.items())
    )


def _managed_labels(state: AgentState) -> Iterator[tuple[str, dict[str, str | None]]]:
    before = state.journal.labels if state.journal else {}
    for node in state.nodes:
        new = {key: value for key, value in before.get(node.name, {}).items() if _is_managed_label(node, key, value)}
        if new:
            yield node.name, new


def _is_managed_label(node: LiveNode, key: str, before: str | None) -> bool:
    return node.labels.get(key) == LABEL_ON != before
