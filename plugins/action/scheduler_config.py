# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scheduler_config, which runs only on the controller: configure a cluster's scheduler, queues, classes, admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.kube.object_changes import ObjectChange, apply_permitted
from ..plugin_utils.node.cluster_action import ClusterAction, redacted_diff
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import SCHEDULER_CONFIG
from ..plugin_utils.report.facts_document import render_findings, to_builtins
from ..plugin_utils.scheduler.cluster_access import SchedulerCluster, plan_changes, restore_changes
from ..plugin_utils.scheduler.scheduling_plan import plan_restore, plan_scheduling
from ..plugin_utils.scheduler.target_spec import parse_target_spec


class ActionModule(ClusterAction):
    ARGUMENTS = SCHEDULER_CONFIG

    UNNAMED = "colocation_kubeconfig is not set, and a scheduler can be configured only through an API server"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        desired = parse_target_spec(arguments)
        cluster = SchedulerCluster(self.client(arguments))
        if arguments["state"] == "restored":
            restore_plan = plan_restore(cluster.read_recorded_state(desired.namespace), arguments["cluster_uid"])
            apply_permitted(cluster.client, restore_changes(restore_plan, desired.namespace))
            return _render_changes(restore_plan.objects, restore_plan.text, changed=restore_plan.changes)
        observed = cluster.read_state(desired)
        plan = plan_scheduling(desired, observed, arguments["cluster_uid"])
        apply_permitted(cluster.client, plan_changes(plan, desired.namespace, observed.journal_version))
        result = _render_changes(plan.objects, plan.text, changed=plan.changes)
        return {**result, "findings": render_findings(plan.findings), "unsupported": list(plan.unsupported)}


def _render_changes(objects: tuple[ObjectChange, ...], text: ObjectChange | None, *, changed: bool) -> dict[str, Any]:
    changes = (*objects, *((text,) if text else ()))
    result = {"diff": list(map(redacted_diff, changes)), "changes": [change.to_result() for change in changes]}
    return dict(to_builtins({"changed": changed, **result, "findings": [], "unsupported": []}))
