# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a cluster for the Volcano agent, and how a plan's steps are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..kube.client import Client
from ..kube.errors import UNTOUCHED, ApiError, ClusterError
from ..kube.identity import cluster_node
from ..kube.objects import Object, Ref
from ..kube.wait import WaitOptions, delete_and_wait
from . import journal
from .names import APP_LABEL, CONFIG_MAP, NAME
from .objects import CONFIG_API, CONFIG_KIND, access
from .seen import AgentSeen, LiveNode, live_node, ref
from .steps import Step, Verb

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
        sets = self._list("apps/v1", "DaemonSet")
        return replace(
            nodes,
            objects={ref(each): each for each in (*self._access(), *sets)},
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
        return tuple(live_node(each, cluster_node(each)) for each in self._list("v1", "Node"))

    def daemon_sets(self) -> tuple[Object, ...]:
        """Those of the agent in its namespace."""
        return self._list("apps/v1", "DaemonSet", namespace=self.namespace, labels=f"{APP_LABEL}={NAME}")

    def pods(self, app: str = NAME) -> tuple[Object, ...]:
        """The agent's pods, or others of ours beside them."""
        return self._list("v1", "Pod", namespace=self.namespace, labels=f"{APP_LABEL}={app}")

    def _list(self, api_version: str, kind: str, **selectors: str) -> tuple[Object, ...]:
        found = self.client.list_objects(api_version, kind, **selectors)
        if found is None:
            raise ClusterError(
                f"The API server of {self.client.context.kubeconfig} has no {kind} in {api_version}",
                f"{UNTOUCHED}. Look at whether the kubeconfig leads to a cluster.",
            )
        return found

    def _access(self) -> Iterator[Object]:
        for each in access(self.namespace):
            found = self.client.find(Ref.of(each))
            if found:
                yield found

    def _has_namespace(self) -> bool:
        return self.client.find(Ref("v1", "Namespace", self.namespace)) is not None

    def carry_out(self, steps: Sequence[Step]) -> None:
        """Send each step; ClusterError says how many were done before the one that failed."""
        lacks = self.client.dry_run and not self._has_namespace()
        for number, step in enumerate(steps):
            # A dry run in a namespace that does not exist yet would fail for that alone.
            if lacks and step.target[1] == self.namespace:
                continue
            try:
                self.send(step)
            except ApiError as error:
                if number and not self.client.dry_run:
                    done = f"{number} of {len(steps)} steps were done before it, and a further run goes on"
                    raise error.after(done) from error
                raise

    def send(self, step: Step) -> None:
        """One step."""
        target = Ref.of(step.body)
        if step.verb is Verb.CREATE:
            self.client.create(step.body)
        elif step.verb is Verb.REPLACE:
            self.client.replace(step.body)
        elif step.verb is Verb.DELETE and target.kind == "DaemonSet":
            # Agents that still run would write again what is cleaned behind them.
            delete_and_wait(self.client, target, AGENTS_LEAVE)
        elif step.verb is Verb.DELETE:
            self.client.delete(target)
        else:
            self.client.patch(step.body, subresource="status" if step.verb is Verb.STATUS else "")
