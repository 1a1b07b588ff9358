# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_verify, and all of it: whether the agent works on its Nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.agent.agent_action import AgentAction, hosts_by_node
from ..plugin_utils.agent.installed_agent import AgentCluster
from ..plugin_utils.agent.module_options import AGENT_VERIFY
from ..plugin_utils.agent.node_proof import Agents, prove_nodes


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_VERIFY

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        hosts = {each.name: each for each in self.agent_hosts(arguments["nodes"], "")}
        nodes = cluster.nodes()
        found = hosts_by_node([each.identity for each in hosts.values()], nodes)
        agents = Agents(cluster.daemon_sets(), cluster.pods(), arguments["oversubscribed"])
        proofs = prove_nodes({node: hosts[host] for node, host in found.items()}, nodes, agents)
        lacking = [f"{each.node}: {'; '.join(each.reasons)}" for each in proofs if each.reasons]
        return {
            "changed": False,
            "verified": not lacking,
            "nodes": [each.published() for each in proofs],
            "problems": lacking,
        }
