# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The current state of the Volcano agent in a cluster, and the permissions to read and change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ..kube.dynamic_client import Client
from ..kube.identity import ClusterNode, parse_node
from ..kube.object_changes import ObjectChange, Operation, apply_changes, required_permissions
from ..kube.objects import Object, Ref
from ..kube.permissions import RequiredPermission
from ..kube.wait import WaitOptions
from . import colocation_config
from .colocation_config import JOURNAL_NAME as JOURNAL
from .colocation_config import AgentJournal
from .manifests import CONFIG_API, CONFIG_KIND, render_access
from .owned_objects import (
    AGENT_NAME,
    APP_LABEL,
    BATCH_CPU,
    BATCH_MEMORY,
    CONFIG_KEY,
    CONFIG_MAP,
    OWNER,
    OWNER_LABEL,
    AgentPlan,
)


@dataclass(frozen=True)
class LiveNode:
    """A Node; ``identity`` shows which machine it is.

    ``reported`` are the allocatable amounts of the agent's resources; ``listed`` includes those of the capacity.
    """

    identity: ClusterNode
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Object, ...]
    reported: Mapping[str, str]
    version: str
    listed: Mapping[str, str] = field(default_factory=dict)
    observed: Object | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.identity.name


@dataclass(frozen=True)
class AgentState:
    """``objects`` are the existing ones of those the collection creates; ``configurations`` is None without the CRD."""

    nodes: tuple[LiveNode, ...]
    objects: Mapping[Ref, Object]
    daemon_sets: tuple[Object, ...]
    config_map: Object | None = None
    journal: AgentJournal | None = None
    journal_version: str | None = None
    namespace: bool = True
    configurations: tuple[Object, ...] | None = None

    @property
    def text(self) -> str | None:
        """The agent's configuration; None if it is missing."""
        config = ((self.config_map or {}).get("data") or {}).get(CONFIG_KEY)
        return None if config is None else str(config)


def parse_live_node(node: Object, identity: ClusterNode) -> LiveNode:
    metadata, status = node["metadata"], node.get("status") or {}
    allocatable = status.get("allocatable") or {}
    return LiveNode(
        identity,
        metadata.get("labels") or {},
        metadata.get("annotations") or {},
        tuple((node.get("spec") or {}).get("taints") or ()),
        _batch_resources(allocatable),
        metadata.get("resourceVersion", ""),
        _batch_resources({**(status.get("capacity") or {}), **allocatable}),
        node,
    )


def _batch_resources(amounts: Object) -> dict[str, str]:
    return {name: str(amounts[name]) for name in (BATCH_CPU, BATCH_MEMORY) if name in amounts}


def config_map_ref(namespace: str) -> Ref:
    return Ref("v1", "ConfigMap", CONFIG_MAP, namespace)


def is_managed(live: Object | None) -> bool:
    """Whether the collection created the object."""
    labels = ((live or {}).get("metadata") or {}).get("labels") or {}
    return bool(labels.get(OWNER_LABEL) == OWNER)


TERMINATION_WAIT = WaitOptions(180)
"""Seconds to wait until the pods of a deleted DaemonSet have ended."""


@dataclass(frozen=True)
class AgentCluster:
    """A cluster, and the agent's namespace."""

    client: Client
    namespace: str = "volcano-system"

    def read_state(self) -> AgentState:
        """The state that plans of objects need."""
        nodes = self.read_node_state()
        sets = self.client.list_all("apps/v1", "DaemonSet")
        return replace(
            nodes,
            objects={Ref.of(manifest): manifest for manifest in (*self._access(), *sets)},
            daemon_sets=sets,
            config_map=self.client.find(Ref("v1", "ConfigMap", CONFIG_MAP, self.namespace)),
            namespace=self._has_namespace(),
            configurations=self.client.list_objects(CONFIG_API, CONFIG_KIND),
        )

    def read_node_state(self) -> AgentState:
        """The Nodes and the journal, which plans of labels need."""
        nodes = self.nodes()
        config_map = self.client.find(Ref("v1", "ConfigMap", colocation_config.JOURNAL_NAME, self.namespace))
        version = config_map["metadata"]["resourceVersion"] if config_map else None
        return AgentState(nodes, {}, (), journal=colocation_config.parse_journal(config_map), journal_version=version)

    def nodes(self) -> tuple[LiveNode, ...]:
        return tuple(parse_live_node(node, parse_node(node)) for node in self.client.list_all("v1", "Node"))

    def daemon_sets(self) -> tuple[Object, ...]:
        """The agent's DaemonSets in its namespace."""
        return self.client.list_all(
            "apps/v1", "DaemonSet", namespace=self.namespace, labels=f"{APP_LABEL}={AGENT_NAME}"
        )

    def pods(self, app: str = AGENT_NAME) -> tuple[Object, ...]:
        """The pods with this app label in the agent's namespace."""
        return self.client.list_all("v1", "Pod", namespace=self.namespace, labels=f"{APP_LABEL}={app}")

    def _access(self) -> Iterator[Object]:
        for manifest in render_access(self.namespace):
            live = self.client.find(Ref.of(manifest))
            if live:
                yield live

    def _has_namespace(self) -> bool:
        return self.client.find(Ref("v1", "Namespace", self.namespace)) is not None

    def apply(self, steps: Sequence[ObjectChange]) -> None:
        """Apply the steps of a plan. Wait until deleted agents have ended: running ones write removed values again."""
        without_namespace = self.client.dry_run and not self._has_namespace()
        # The API server refuses a dry run in a namespace that does not exist yet.
        changes = [
            replace(step, dry=not (without_namespace and step.ref.namespace == self.namespace)) for step in steps
        ]
        self._start_first_deletions(changes)
        apply_changes(self.client, changes, lambda step: TERMINATION_WAIT if step.ref.kind == "DaemonSet" else None)

    def apply_removal(self, plan: AgentPlan, plan_again: Callable[[], AgentPlan]) -> AgentPlan:
        """Apply a plan that begins with the deletion of DaemonSets, and return what was done.

        Agents change their Nodes until they have ended. Then the remaining changes are planned from what they left.
        """
        deletions = tuple(takewhile(_deletes_daemon_set, plan.steps))
        if self.client.dry_run or not deletions:
            self.apply(plan.steps)
            return plan
        self.apply(deletions)
        remaining = plan_again()
        self.apply(remaining.steps)
        return replace(remaining, steps=(*deletions, *remaining.steps))

    def _start_first_deletions(self, changes: Sequence[ObjectChange]) -> None:
        """Delete the DaemonSets that a plan begins with, without waiting, so that all agents end at the same time."""
        if self.client.dry_run:
            return
        for change in takewhile(_deletes_daemon_set, changes):
            self.client.delete(change.ref, propagation="Foreground")


def _deletes_daemon_set(change: ObjectChange) -> bool:
    return change.operation is Operation.DELETE and change.ref.kind == "DaemonSet"


def plan_permissions(steps: Iterable[ObjectChange]) -> tuple[RequiredPermission, ...]:
    """The permissions for a plan, without duplicates. A deleted DaemonSet is read until it no longer exists."""
    changes = tuple(steps)
    watched = (change.ref for change in changes if _deletes_daemon_set(change))
    permissions = (*(RequiredPermission.of("get", ref) for ref in watched), *required_permissions(changes))
    return tuple(dict.fromkeys(permissions))


def cleanup_permissions(plan: AgentPlan) -> tuple[RequiredPermission, ...]:
    """The permissions for what agents may still write to their Nodes while a plan deletes them."""
    if not any(map(_deletes_daemon_set, plan.steps)):
        return ()
    return (RequiredPermission("patch", "", "nodes"), RequiredPermission("patch", "", "nodes", subresource="status"))


def read_permissions(namespace: str) -> tuple[RequiredPermission, ...]:
    """The permissions to read the state. They omit ColocationConfigurations, whose kind may not exist."""
    return (
        RequiredPermission("list", "", "nodes"),
        RequiredPermission("list", "apps", "daemonsets"),
        RequiredPermission("get", "", "namespaces", name=namespace),
        *(
            RequiredPermission("get", "", "configmaps", namespace=namespace, name=name)
            for name in (CONFIG_MAP, JOURNAL)
        ),
        *(RequiredPermission.of("get", Ref.of(manifest)) for manifest in render_access(namespace)),
    )


def proof_permissions(namespace: str, *, smoke_test: bool = False) -> tuple[RequiredPermission, ...]:
    """The permissions for verification beside those for reading; ``smoke_test``: also for the pods of the test."""
    verbs = ("list", "get", "create", "patch", "delete") if smoke_test else ("list",)
    return tuple(RequiredPermission(verb, "", "pods", namespace=namespace) for verb in verbs)
