# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rollout's action plugins do alike: read what hosts' tasks registered, and reach the API server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from ..kube.errors import ClusterError
from ..kube.identity import NOT_OBSERVED, find_node_name, is_observed, read_identity
from ..node.action_base import strip_tags
from ..node.transport import Node
from ..rollout.drain_cluster import DrainCluster
from ..rollout.pods import Rules
from .cluster_action import ClusterAction, HostvarsAction

REGISTERED = ("node_observed", "node_aligned", "rollout_preview", "rollout_drained", "rollout_opened")
"""What the roles' tasks register."""


class HostsAction(HostvarsAction):
    """An action that reads what was registered."""

    def registered(self, name: str) -> dict[str, Any]:
        found = self.known(name)
        return {each: strip_tags(found.get(each)) for each in REGISTERED}


class RolloutAction(ClusterAction, HostsAction):
    """One that asks the API server."""

    UNNAMED = "colocation_drain is true, and colocation_kubeconfig names no kubeconfig"
    PAGE = "docs/rollout.md"
    # A drain has evicted pods when its next request fails.
    UNTOUCHED = ""

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rules = Rules(arguments["bare_pods"] == "evict", arguments["empty_dir"] == "evict")
        return self.with_cluster(DrainCluster(self.client(arguments), rules), arguments)

    def node_of(self, name: str, cluster: DrainCluster) -> str:
        """The host's Node; ClusterError where it was not looked at, or the kubeconfig is that of another cluster."""
        observed = self.registered(name)["node_observed"]
        if not is_observed(observed):
            raise ClusterError(
                f"{name}: {NOT_OBSERVED}, so that its Node is not known", "Run the entry observe before."
            )
        return find_node_name(cluster.client, read_identity(name, observed["kubeadm"]))

    @abstractmethod
    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result; ClusterError where the cluster does not let us."""
