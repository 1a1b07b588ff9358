# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_deploy, and all of it: the Volcano agent of a cluster, once for all hosts of a play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plugin_utils.agent.agent_cluster import AgentCluster
from ..plugin_utils.agent.arguments import AGENT_DEPLOY
from ..plugin_utils.agent.helm import Helm, helm
from ..plugin_utils.agent.host import AgentHost
from ..plugin_utils.agent.labels import Permission, label_plan, unlabel_plan
from ..plugin_utils.agent.needs import needs, plan_needs, proof_needs
from ..plugin_utils.agent.options import Options, parse_options
from ..plugin_utils.agent.plan import make_plan, node_pools
from ..plugin_utils.agent.pools import Pool, make_pools
from ..plugin_utils.agent.removal import removal_plan
from ..plugin_utils.agent.shown import published
from ..plugin_utils.agent.steps import Plan
from ..plugin_utils.controller.agent_action import AgentAction, owners
from ..plugin_utils.kube.errors import ClusterError
from ..plugin_utils.kube.permissions import RequiredPermission, require_permissions
from ..plugin_utils.node.transport import Node

Ahead = tuple[Plan, tuple[RequiredPermission, ...]]
"""A plan, and what the role's later tasks need beside it."""


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_DEPLOY

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["step"] != "values":
            return super().work(node, arguments)
        try:
            _options, _hosts, pools, values = self._wanted(arguments)
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}
        return published(Plan(), pools, values)

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        permission = Permission(arguments["label_nodes"])
        if arguments["state"] == "absent":
            pools: Sequence[Pool] = ()
            values, (plan, later) = Helm(), self._way_back(cluster, arguments, permission)
        else:
            pools, values, (plan, later) = self._way_there(cluster, arguments, permission)
        require_permissions(cluster.client, (*needs(plan.steps), *later))
        cluster.apply(plan.steps)
        return published(plan, pools, values)

    def _wanted(self, arguments: Mapping[str, Any]) -> tuple[Options, Sequence[AgentHost], Sequence[Pool], Helm]:
        """What the hosts alone tell; no API server is asked."""
        options = parse_options(arguments, self.groups())
        hosts = self.agent_hosts(arguments["nodes"], options.cni_config)
        pools = make_pools(hosts, options.pools, options.features, options.release)
        return options, hosts, pools, helm(pools, hosts, options)

    def _way_there(
        self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: Permission
    ) -> tuple[Sequence[Pool], Helm, Ahead]:
        options, hosts, pools, values = self._wanted(arguments)
        identities = [each.identity for each in hosts]
        if arguments["step"] == "labels":
            seen = cluster.nodes_seen()
            places = node_pools(pools, owners(identities, seen.nodes))
            return pools, values, (label_plan(seen, places, pools, permission, options.namespace), ())
        require_permissions(cluster.client, plan_needs(options.namespace))
        seen = cluster.agent_seen()
        found = owners(identities, seen.nodes)
        plan = make_plan(options, pools, found, seen, permission)
        labels = label_plan(seen, node_pools(pools, found), pools, permission, options.namespace)
        proof = proof_needs(options.namespace, trial=arguments["smoke_test"])
        return pools, values, (plan, (*needs(labels.steps), *proof))

    def _way_back(self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: Permission) -> Ahead:
        identities = self.known_hosts(arguments["nodes"])
        if arguments["step"] == "labels":
            seen = cluster.nodes_seen()
            owners(identities, seen.nodes)
            return unlabel_plan(seen, permission), ()
        require_permissions(cluster.client, plan_needs(arguments["namespace"]))
        seen = cluster.agent_seen()
        owners(identities, seen.nodes)
        labels = needs(unlabel_plan(seen, permission).steps)
        # Agents that lose the labels are watched while they clean up.
        watched = proof_needs(arguments["namespace"]) if labels else ()
        return removal_plan(seen, arguments["namespace"], permission), (*labels, *watched)
