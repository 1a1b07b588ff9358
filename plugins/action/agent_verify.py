# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of agent_verify, which runs only on the controller: verify that the agent works on its Nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.agent.agent_action import AgentAction, hosts_by_node
from ..plugin_utils.agent.installed_agent import AgentCluster, LiveNode
from ..plugin_utils.agent.module_options import AGENT_VERIFY
from ..plugin_utils.agent.node_proof import Agents, NodeProof, prove_nodes
from ..plugin_utils.agent.owned_objects import BATCH_CPU
from ..plugin_utils.agent.probed_host import AgentHost
from ..plugin_utils.kube.wait import WaitOptions, observe


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_VERIFY

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        hosts = {host.name: host for host in self.agent_hosts(arguments["nodes"], "")}
        problem = _offers if arguments["state"] == "absent" else _problem

        def look() -> tuple[NodeProof, ...]:
            return _prove(cluster, hosts, oversubscribed=arguments["oversubscribed"])

        def problems(proofs: tuple[NodeProof, ...]) -> list[str]:
            return [f"{proof.node}: {text}" for proof in proofs if (text := problem(proof))]

        options = WaitOptions(arguments["timeout"], show=self.progress)
        proofs = observe(look, lambda proofs: "; ".join(problems(proofs)), options)
        return {
            "changed": False,
            "verified": not problems(proofs),
            "nodes": [{**proof.to_result(), "verified": not problem(proof)} for proof in proofs],
            "problems": problems(proofs),
        }


def _prove(cluster: AgentCluster, hosts: Mapping[str, AgentHost], *, oversubscribed: bool) -> tuple[NodeProof, ...]:
    nodes: tuple[LiveNode, ...] = cluster.nodes()
    host_names = hosts_by_node([host.identity for host in hosts.values()], nodes)
    agents = Agents(cluster.daemon_sets(), cluster.pods(), oversubscribed)
    return prove_nodes({node: hosts[host] for node, host in host_names.items()}, nodes, agents)


def _problem(proof: NodeProof) -> str:
    return "; ".join(proof.reasons)


def _offers(proof: NodeProof) -> str:
    """What an agent that still works offers, although its Node has no labels for it any more."""
    amount = "" if proof.agent or proof.batch_cpu == "0" else proof.batch_cpu
    return amount and f"its agent still offers {BATCH_CPU}: {amount}"
