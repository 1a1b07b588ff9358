# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of scheduler_config, and all of it: scheduler, queues, classes and admission of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.controller.cluster_action import ClusterAction
from ..plugin_utils.findings.kubeadm import published
from ..plugin_utils.kube.changes import ObjectChange, apply_permitted, redacted_diff
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import SCHEDULER_CONFIG
from ..plugin_utils.report.facts_document import to_builtins
from ..plugin_utils.scheduler.plan import make_plan
from ..plugin_utils.scheduler.restore import make_return
from ..plugin_utils.scheduler.scheduler_cluster import SchedulerCluster, restoring_changes, written_changes
from ..plugin_utils.scheduler.wanted import read_wanted


class ActionModule(ClusterAction):
    ARGUMENTS = SCHEDULER_CONFIG

    UNNAMED = "colocation_kubeconfig names no kubeconfig, and a scheduler is set up by its cluster's API server only"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        wanted = read_wanted(arguments)
        cluster = SchedulerCluster(self.client(arguments))
        if arguments["state"] == "restored":
            found = make_return(cluster.look_back(wanted.namespace), arguments["cluster_uid"])
            apply_permitted(cluster.client, restoring_changes(found, wanted.namespace))
            return _told(found.objects, found.text, changed=found.changes)
        seen = cluster.look(wanted)
        plan = make_plan(wanted, seen, arguments["cluster_uid"])
        apply_permitted(cluster.client, written_changes(plan, wanted.namespace, seen.journal_version))
        told = _told(plan.objects, plan.text, changed=plan.changes)
        return {**told, "findings": published(plan.findings), "unsupported": list(plan.left_out)}


def _told(objects: tuple[ObjectChange, ...], text: ObjectChange | None, *, changed: bool) -> dict[str, Any]:
    found = (*objects, *((text,) if text else ()))
    result = {"diff": list(map(redacted_diff, found)), "changes": [each.to_result() for each in found]}
    return dict(to_builtins({"changed": changed, **result, "findings": [], "unsupported": []}))
