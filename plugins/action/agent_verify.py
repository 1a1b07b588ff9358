# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of agent_verify, which runs only on the controller: verify that the agent works on its Nodes."""

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
        hosts = {host.name: host for host in self.agent_hosts(arguments["nodes"], "")}
        nodes = cluster.nodes()
        host_names = hosts_by_node([host.identity for host in hosts.values()], nodes)
        agents = Agents(cluster.daemon_sets(), cluster.pods(), arguments["oversubscribed"])
        proofs = prove_nodes({node: hosts[host] for node, host in host_names.items()}, nodes, agents)
        problems = [f"{proof.node}: {'; '.join(proof.reasons)}" for proof in proofs if proof.reasons]
        return {
            "changed": False,
            "verified": not problems,
            "nodes": [proof.to_result() for proof in proofs],
            "problems": problems,
        }
