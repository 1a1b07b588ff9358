# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action of agent_deploy, which runs only on the controller, once for all hosts of a play."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..plugin_utils.agent.agent_action import AgentAction, hosts_by_node
from ..plugin_utils.agent.helm_values import HelmValues, render_helm_values
from ..plugin_utils.agent.install_plan import plan_install, plan_result, pools_by_node
from ..plugin_utils.agent.installed_agent import (
    AgentCluster,
    cleanup_permissions,
    plan_permissions,
    proof_permissions,
    read_permissions,
)
from ..plugin_utils.agent.module_options import AGENT_DEPLOY, DeployOptions, parse_deploy_options
from ..plugin_utils.agent.node_labels import LabelPermission, plan_label_removal, plan_labels
from ..plugin_utils.agent.owned_objects import AgentPlan
from ..plugin_utils.agent.pools import Pool, make_pools
from ..plugin_utils.agent.probed_host import AgentHost
from ..plugin_utils.agent.uninstall_plan import plan_uninstall
from ..plugin_utils.kube.api_errors import ClusterError
from ..plugin_utils.kube.permissions import RequiredPermission, require_permissions
from ..plugin_utils.node.transport import Node

RECHECKS = 6
"""Times that labels are set again. Agents of a large pool do not start at the same time."""

PlanWithPermissions = tuple[AgentPlan, tuple[RequiredPermission, ...]]
"""A plan, and the permissions that later tasks of the role need."""


class ActionModule(AgentAction):
    ARGUMENTS = AGENT_DEPLOY

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["step"] != "values":
            return super().execute(node, arguments)
        try:
            _options, _hosts, pools, values = self._desired(arguments)
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}
        return plan_result(AgentPlan(), pools, values)

    def with_cluster(self, cluster: AgentCluster, arguments: Mapping[str, Any]) -> dict[str, Any]:
        permission = LabelPermission(arguments["label_nodes"])
        if arguments["state"] == "absent":
            return plan_result(self._remove(cluster, arguments, permission), (), HelmValues())
        pools, values, (plan, later) = self._plan_present(cluster, arguments, permission)
        require_permissions(cluster.client, (*plan_permissions(plan.steps), *later))
        cluster.apply(plan.steps)
        if arguments["step"] == "labels" and plan.steps and arguments["recheck_seconds"] and not self._task.check_mode:
            self._keep_labels(cluster, arguments, permission)
        return plan_result(plan, pools, values)

    def _keep_labels(self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: LabelPermission) -> None:
        """Set labels again that an agent has reset: one that is starting has not read them yet (docs/upstream.md)."""
        seconds = arguments["recheck_seconds"]
        for _attempt in range(RECHECKS):
            time.sleep(seconds)
            _pools, _values, (plan, _later) = self._plan_present(cluster, arguments, permission)
            if not plan.steps:
                return
            self.progress("labels of Nodes were reset by an agent that was starting, and are set again")
            cluster.apply(plan.steps)
        nodes = ", ".join(sorted(step.ref.name for step in plan.steps if step.ref.kind == "Node"))
        raise ClusterError(
            f"Labels of the Nodes {nodes} were reset {RECHECKS} times, {seconds} s after they were set",
            "Find the client that resets them: kubectl get nodes --show-labels --watch",
        )

    def _remove(self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: LabelPermission) -> AgentPlan:
        plan, later = self._plan_absent(cluster, arguments, permission)
        require_permissions(cluster.client, (*plan_permissions(plan.steps), *cleanup_permissions(plan), *later))
        namespace = arguments["namespace"]
        return cluster.apply_removal(plan, lambda: plan_uninstall(cluster.read_state(), namespace, permission))

    def _desired(
        self, arguments: Mapping[str, Any]
    ) -> tuple[DeployOptions, Sequence[AgentHost], Sequence[Pool], HelmValues]:
        """The options, and what follows from the hosts alone, without the API server."""
        options = parse_deploy_options(arguments, self.groups())
        hosts = self.agent_hosts(arguments["nodes"], options.cni_config)
        pools = make_pools(hosts, options.pools, options.features, options.release)
        return options, hosts, pools, render_helm_values(pools, hosts, options)

    def _plan_present(
        self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: LabelPermission
    ) -> tuple[Sequence[Pool], HelmValues, PlanWithPermissions]:
        options, hosts, pools, values = self._desired(arguments)
        identities = [host.identity for host in hosts]
        if arguments["step"] == "labels":
            state = cluster.read_node_state()
            node_pools = pools_by_node(pools, hosts_by_node(identities, state.nodes))
            return pools, values, (plan_labels(state, node_pools, pools, permission, options.namespace), ())
        require_permissions(cluster.client, read_permissions(options.namespace))
        state = cluster.read_state()
        host_names = hosts_by_node(identities, state.nodes)
        plan = plan_install(options, pools, host_names, state, permission)
        labels = plan_labels(state, pools_by_node(pools, host_names), pools, permission, options.namespace)
        proof = proof_permissions(options.namespace, smoke_test=arguments["smoke_test"])
        return pools, values, (plan, (*plan_permissions(labels.steps), *proof))

    def _plan_absent(
        self, cluster: AgentCluster, arguments: Mapping[str, Any], permission: LabelPermission
    ) -> PlanWithPermissions:
        identities = self.known_hosts(arguments["nodes"])
        if arguments["step"] == "labels":
            state = cluster.read_node_state()
            hosts_by_node(identities, state.nodes)
            return plan_label_removal(state, permission), ()
        require_permissions(cluster.client, read_permissions(arguments["namespace"]))
        state = cluster.read_state()
        hosts_by_node(identities, state.nodes)
        labels = plan_permissions(plan_label_removal(state, permission).steps)
        # The role waits while agents without labels clean up, and lists their pods.
        watched = proof_permissions(arguments["namespace"]) if labels else ()
        return plan_uninstall(state, arguments["namespace"], permission), (*labels, *watched)
