# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_smoke_test, and all of it: short-lived offline pods, and what to read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.agent.agent_cluster import AgentCluster
from ..plugin_utils.agent.arguments import AGENT_TRIAL
from ..plugin_utils.agent.needs import proof_needs
from ..plugin_utils.agent.proof import Agents
from ..plugin_utils.agent.trial import TRIAL, begun, ended, readings, trials
from ..plugin_utils.controller.agent_action import AgentAction, owners
from ..plugin_utils.kube.permissions import require_permissions


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_TRIAL

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        nodes = cluster.nodes()
        if arguments["state"] == "absent":
            owners(self.known_hosts(arguments["nodes"]), nodes)
            steps = tuple(ended(cluster.pods(TRIAL)))
            cluster.apply(steps)
            return {"changed": bool(steps), "changes": [str(step) for step in steps], "tests": []}
        hosts = {each.name: each for each in self.agent_hosts(arguments["nodes"], "")}
        found = owners([each.identity for each in hosts.values()], nodes)
        agents = Agents(cluster.daemon_sets(), cluster.pods(), oversubscribed=False)
        tried = trials({node: hosts[host] for node, host in found.items()}, nodes, agents)
        pods = cluster.pods(TRIAL)
        steps = tuple(begun(tried, pods, arguments["namespace"]))
        if steps:
            # A pod that could be made and not be deleted would stay.
            require_permissions(cluster.client, proof_needs(arguments["namespace"], trial=True))
        cluster.apply(steps)
        return {
            "changed": bool(steps),
            "changes": [str(step) for step in steps],
            "tests": [each.published() for each in readings(tried, pods)],
        }
