# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeadm_config, which runs only on the controller: update a cluster's kubelet-config once for all hosts of a play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.kube.object_changes import ObjectChange, apply_permitted
from ..plugin_utils.kubeadm.cluster_plan import (
    ClusterPlan,
    ClusterRestorePlan,
    KubeadmCluster,
    plan_changes,
    plan_cluster,
    plan_cluster_restore,
    restore_changes,
)
from ..plugin_utils.kubeadm.play_hosts import ConfigMapPermission, PlayHost, parse_host, parse_restored_host
from ..plugin_utils.node.action_base import strip_tags
from ..plugin_utils.node.cluster_action import ClusterAction, redacted_diff
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import KUBEADM_CONFIG
from ..plugin_utils.report.facts_document import render_findings, to_builtins

REGISTERED = ("node_observed", "node_aligned", "node_restore_planned", "node_restored")
"""Variables that the role's phases register."""


class ActionModule(ClusterAction):
    ARGUMENTS = KUBEADM_CONFIG

    UNNAMED = "colocation_kubeadm_edit_configmap is true, and colocation_kubeconfig is not set"
    PAGE = "docs/layouts.md"
    ALTERNATIVE = ", or set colocation_kubeadm_edit_configmap to false to write nothing to the cluster"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        cluster = KubeadmCluster(self.client(arguments))
        permission = ConfigMapPermission(arguments["edit_configmap"])
        observed = cluster.read_state()
        plan: ClusterPlan | ClusterRestorePlan
        if arguments["state"] == "restored":
            plan = plan_cluster_restore([self._restored(name) for name in arguments["nodes"]], observed, permission)
            changes = restore_changes(plan)
        else:
            plan = plan_cluster([self._host(name) for name in arguments["nodes"]], observed, permission)
            changes = plan_changes(plan, observed.journal_version)
        apply_permitted(cluster.client, changes)
        return self._render_changes(plan, changes)

    @staticmethod
    def _render_changes(plan: ClusterPlan | ClusterRestorePlan, changes: tuple[ObjectChange, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {
            "changed": bool(changes),
            "diff": [redacted_diff(change) for change in changes if change.part],
            "changes": [change.to_result() for change in plan.changes],
            "reasons": list(plan.reasons),
            "findings": render_findings(plan.findings),
            "configmap": plan.config_map.name if plan.config_map else None,
        }
        return dict(to_builtins(result))

    def _host(self, name: str) -> PlayHost:
        known = self._registered_variables(name)
        return parse_host(name, known["node_observed"], known["node_aligned"], planned=self._task.check_mode)

    def _restored(self, name: str) -> PlayHost:
        """In check mode the planned restore is used, because it runs before the first node is restored."""
        known = self._registered_variables(name)
        planned = known["node_restore_planned"] if self._task.check_mode else None
        return parse_restored_host(name, known["node_restored"] or planned)

    def _registered_variables(self, name: str) -> dict[str, Any]:
        variables = self.known(name)
        return {key: strip_tags(variables.get(key)) for key in REGISTERED}
