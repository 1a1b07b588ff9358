# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a cluster for the Volcano agent, and how a plan's steps are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..kube.changes import ObjectChange, apply_changes
from ..kube.client import Client
from ..kube.identity import cluster_node
from ..kube.objects import Object, Ref
from ..kube.wait import WaitOptions
from . import journal
from .names import APP_LABEL, CONFIG_MAP, NAME
from .objects import CONFIG_API, CONFIG_KIND, access
from .seen import AgentSeen, LiveNode, live_node

AGENTS_LEAVE = WaitOptions(180)
"""For the pods of a DaemonSet to end."""


@dataclass(frozen=True)
class AgentCluster:
    """One cluster, and the namespace of the agent in it."""

    client: Client
    namespace: str = "volcano-system"

    def agent_seen(self) -> AgentSeen:
        """All that a plan of objects needs."""
        nodes = self.nodes_seen()
        sets = self.client.list_all("apps/v1", "DaemonSet")
        return replace(
            nodes,
            objects={Ref.of(each): each for each in (*self._access(), *sets)},
            daemon_sets=sets,
            config_map=self.client.find(Ref("v1", "ConfigMap", CONFIG_MAP, self.namespace)),
            namespace=self._has_namespace(),
            configurations=self.client.list_objects(CONFIG_API, CONFIG_KIND),
        )

    def nodes_seen(self) -> AgentSeen:
        """The Nodes and the journal: all that labels need."""
        nodes = self.nodes()
        kept = journal.read_journal(self.client.find(Ref("v1", "ConfigMap", journal.NAME, self.namespace)))
        return AgentSeen(nodes, {}, (), journal=kept)

    def nodes(self) -> tuple[LiveNode, ...]:
        return tuple(live_node(each, cluster_node(each)) for each in self.client.list_all("v1", "Node"))

    def daemon_sets(self) -> tuple[Object, ...]:
        """Those of the agent in its namespace."""
        return self.client.list_all("apps/v1", "DaemonSet", namespace=self.namespace, labels=f"{APP_LABEL}={NAME}")

    def pods(self, app: str = NAME) -> tuple[Object, ...]:
        """The agent's pods, or others of ours beside them."""
        return self.client.list_all("v1", "Pod", namespace=self.namespace, labels=f"{APP_LABEL}={app}")

    def _access(self) -> Iterator[Object]:
        for each in access(self.namespace):
            found = self.client.find(Ref.of(each))
            if found:
                yield found

    def _has_namespace(self) -> bool:
        return self.client.find(Ref("v1", "Namespace", self.namespace)) is not None

    def apply(self, steps: Sequence[ObjectChange]) -> None:
        """Apply the steps of a plan. Agents are waited for: those that still run write again what is cleaned."""
        lacks = self.client.dry_run and not self._has_namespace()
        # A dry run in a namespace that does not exist yet would fail for that alone.
        judged = [replace(step, dry=not (lacks and step.ref.namespace == self.namespace)) for step in steps]
        apply_changes(self.client, judged, lambda step: AGENTS_LEAVE if step.ref.kind == "DaemonSet" else None)
