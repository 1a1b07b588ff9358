# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rollout's action plugins do alike: read what hosts' tasks registered, and reach the API server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ClusterError
from ..rollout.pods import Rules
from .builtins import untagged
from .cluster_action import ClusterAction
from .node import Node
from .node_api import NodeApi
from .node_identity import node_name

UNNAMED = "colocation_drain is true, and colocation_kubeconfig names no kubeconfig"
REGISTERED = ("node_observed", "node_aligned", "rollout_outlook", "rollout_drained", "rollout_opened")
"""What the roles' tasks register."""


class HostsAction(ClusterAction):
    """An action that reads what was registered."""

    def registered(self, name: str) -> dict[str, Any]:
        found = self.known(name)
        return {each: untagged(found.get(each)) for each in REGISTERED}


class RolloutAction(HostsAction):
    """One that asks the API server."""

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rules = Rules(arguments["bare_pods"] == "evict", arguments["empty_dir"] == "evict")
        try:
            return self.with_api(NodeApi(self.kubeconfig(arguments, UNNAMED), rules), arguments)
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}

    def node_of(self, name: str, api: NodeApi) -> str:
        return node_name(name, self.registered(name)["node_observed"], api)

    @abstractmethod
    def with_api(self, api: NodeApi, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result; ClusterError where the cluster does not let us."""
