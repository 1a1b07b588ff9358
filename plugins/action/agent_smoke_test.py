# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of agent_smoke_test, which runs only on the controller: pods, and what to verify on their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plugin_utils.agent.agent_action import AgentAction, hosts_by_node
from ..plugin_utils.agent.installed_agent import AgentCluster, proof_permissions
from ..plugin_utils.agent.module_options import AGENT_SMOKE_TEST
from ..plugin_utils.agent.node_proof import Agents
from ..plugin_utils.agent.smoke_test import (
    SMOKE_TEST_NAME,
    SmokeTestPod,
    cleanup_changes,
    plan_smoke_tests,
    smoke_test_pods,
    start_changes,
    update_changes,
)
from ..plugin_utils.kube.permissions import require_permissions
from ..plugin_utils.kube.wait import WaitOptions, observe


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_SMOKE_TEST

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["state"] == "absent":
            hosts_by_node(self.known_hosts(arguments["nodes"]), cluster.nodes())
            steps = tuple(cleanup_changes(cluster.pods(SMOKE_TEST_NAME)))
            cluster.apply(steps)
            return {"changed": bool(steps), "changes": [str(step) for step in steps], "tests": []}
        changes: list[str] = []
        options = WaitOptions(arguments["timeout"] if arguments["state"] == "present" else 0, show=self.progress)
        tests = observe(lambda: self._apply(cluster, arguments, changes), _unready, options)
        return {"changed": bool(changes), "changes": changes, "tests": [test.to_result() for test in tests]}

    def _apply(
        self, cluster: AgentCluster, arguments: Mapping[str, Any], changes: list[str]
    ) -> tuple[SmokeTestPod, ...]:
        """Create or update the pods, and return what they were before; ``changes`` gets what was changed."""
        nodes = cluster.nodes()
        hosts = {host.name: host for host in self.agent_hosts(arguments["nodes"], "")}
        host_names = hosts_by_node([host.identity for host in hosts.values()], nodes)
        agents = Agents(cluster.daemon_sets(), cluster.pods(), oversubscribed=False)
        tests = plan_smoke_tests({node: hosts[host] for node, host in host_names.items()}, nodes, agents)
        pods = cluster.pods(SMOKE_TEST_NAME)
        if arguments["state"] == "updated":
            steps = tuple(update_changes(pods))
        else:
            steps = tuple(start_changes(tests, pods, arguments["namespace"]))
        if steps:
            # Without permission to delete, a created pod would remain.
            require_permissions(cluster.client, proof_permissions(arguments["namespace"], smoke_test=True))
        cluster.apply(steps)
        changes += [str(step) for step in steps]
        return smoke_test_pods(tests, pods)


def _unready(tests: Sequence[SmokeTestPod]) -> str:
    return "; ".join(f"{test.smoke_test.name}: {test.reason}" for test in tests if test.reason)
