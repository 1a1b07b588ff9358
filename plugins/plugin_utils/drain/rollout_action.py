# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared parts of the action plugins of a rollout: options, results that tasks registered, access to the API server.

A test compares the specifications of options with the documentation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.identity import NOT_OBSERVED, find_node_name, is_observed, parse_identity
from ..node.action_base import strip_tags
from ..node.cluster_action import ClusterAction, HostvarsAction
from ..node.transport import Node
from ..profile.argspec import DETAILED_HOSTS, Spec
from .evictable_pods import EvictionRules
from .eviction_api import DrainCluster

API_SERVER_OPTIONS: Spec = {
    "kubeconfig": {"type": "path"},
    "bare_pods": {"type": "str", "choices": ["refuse", "evict"], "default": "refuse"},
    "empty_dir": {"type": "str", "choices": ["refuse", "evict"], "default": "refuse"},
}

NODE_DRAIN: Spec = {
    **API_SERVER_OPTIONS,
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["drained", "uncordoned"], "required": True},
    "timeout": {"type": "int", "default": 600},
}

ROLLOUT_PREVIEW: Spec = {
    **API_SERVER_OPTIONS,
    **DETAILED_HOSTS,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "batches": {"type": "list", "elements": "str", "default": ["1"]},
}

ROLLOUT_TABLE: Spec = {
    **DETAILED_HOSTS,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "failed": {"type": "dict", "default": {}},
}


REGISTERED_RESULTS = ("node_observed", "node_aligned", "rollout_preview", "rollout_drained", "rollout_opened")
"""Names of the variables that the roles' tasks register."""


class RoleResultsAction(HostvarsAction):
    """An action that reads registered results of hosts."""

    def registered(self, name: str) -> dict[str, Any]:
        known = self.known(name)
        return {variable: strip_tags(known.get(variable)) for variable in REGISTERED_RESULTS}


class RolloutAction(ClusterAction, RoleResultsAction):
    """An action of a rollout with access to the API server."""

    UNNAMED = "colocation_drain is true, and colocation_kubeconfig is not set"
    PAGE = "docs/rollout.md"
    # A drain has evicted pods when its next request fails.
    UNTOUCHED = ""

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rules = EvictionRules(arguments["bare_pods"] == "evict", arguments["empty_dir"] == "evict")
        return self.with_cluster(DrainCluster(self.client(arguments), rules), arguments)

    def node_of(self, name: str, cluster: DrainCluster) -> str:
        """The host's Node; ClusterError where the host was not observed, or the kubeconfig leads to another cluster."""
        observed = self.registered(name)["node_observed"]
        if not is_observed(observed):
            raise ClusterError(
                f"{name}: {NOT_OBSERVED}, so that its Node is not known",
                "Run the entry observe of the role node first.",
            )
        return find_node_name(cluster.client, parse_identity(name, observed["kubeadm"]))

    @abstractmethod
    def with_cluster(self, cluster: DrainCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result; ClusterError where a request fails."""
