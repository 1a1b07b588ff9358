# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes of the agent's action plugins: they read the registered results of hosts, and find their Nodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..kube.identity import HostIdentity, match_nodes
from ..node.action_base import strip_tags
from ..node.cluster_action import ClusterAction, HostvarsAction
from ..node.transport import Node
from .installed_agent import AgentCluster, LiveNode
from .probed_host import AgentHost, parse_host, parse_host_identity


class AgentHostsAction(HostvarsAction):
    """An action that runs once on the controller for all hosts of a play."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._groups = (task_vars or {}).get("groups", {})
        return super().run(tmp, task_vars)

    def groups(self) -> dict[str, Sequence[str]]:
        """Hosts by the name of their inventory group."""
        groups: dict[str, Sequence[str]] = strip_tags(dict(self._groups))
        return groups

    def agent_hosts(self, names: Iterable[str], cni_config: str) -> list[AgentHost]:
        """The hosts, from the results of node_facts and agent_host_info; ProfileError for a host without results."""
        return [parse_host(name, *self._results(name), cni_config) for name in names]

    def known_hosts(self, names: Iterable[str]) -> list[HostIdentity]:
        """The identities of the hosts, without facts."""
        return [parse_host_identity(name, *self._results(name)) for name in names]

    def _results(self, name: str) -> tuple[Any, Any]:
        known = self.known(name)
        facts = (known.get("ansible_facts") or {}).get("colocation")
        probed = known.get("agent_host_info") or {}
        return strip_tags(facts), strip_tags(probed.get("host"))


class AgentAction(ClusterAction, AgentHostsAction):
    """An action that also uses the API server of the cluster."""

    UNNAMED = "colocation_kubeconfig is not set, and the agent can be deployed only through the cluster's API server"
    PAGE = "docs/agent.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.with_cluster(AgentCluster(self.client(arguments), arguments["namespace"]), arguments)

    @abstractmethod
    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The module's result; ClusterError for a request that the cluster refuses."""


def hosts_by_node(hosts: Iterable[HostIdentity], nodes: Iterable[LiveNode]) -> dict[str, str]:
    """Names of hosts by the name of their Node; ClusterError if the kubeconfig is for another cluster."""
    return match_nodes(hosts, [node.identity for node in nodes])
