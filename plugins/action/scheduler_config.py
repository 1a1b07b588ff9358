# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of scheduler_config, and all of it: scheduler, queues, classes and admission of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.arguments import SCHEDULER_CONFIG
from ..plugin_utils.controller.cluster_action import ClusterAction
from ..plugin_utils.controller.node import Node
from ..plugin_utils.facts.published_values import plain
from ..plugin_utils.findings.kubeadm import published
from ..plugin_utils.kube.changes import ObjectChange, apply_changes, required_permissions
from ..plugin_utils.kube.permissions import RequiredPermission, require_permissions
from ..plugin_utils.redact import redact_text
from ..plugin_utils.scheduler.plan import SchedulerPlan, make_plan
from ..plugin_utils.scheduler.restore import Return, make_return
from ..plugin_utils.scheduler.scheduler_cluster import SchedulerCluster, journal_ref
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
            self._put_back(cluster, found, wanted.namespace)
            return _told(found.objects, found.text, changed=found.changes)
        seen = cluster.look(wanted)
        plan = make_plan(wanted, seen, arguments["cluster_uid"])
        self._write(cluster, plan, wanted.namespace, seen.journal_version)
        told = _told(plan.objects, plan.text, changed=plan.changes)
        return {**told, "findings": published(plan.findings), "left_out": list(plan.left_out)}

    @staticmethod
    def _write(cluster: SchedulerCluster, plan: SchedulerPlan, namespace: str, version: str | None) -> None:
        if not plan.changes:
            return
        text = (plan.text,) if plan.text else ()
        journal = RequiredPermission.of("patch" if version else "create", journal_ref(namespace))
        require_permissions(cluster.client, (journal, *required_permissions((*text, *plan.objects))))
        cluster.note(namespace, plan.journal, version)
        apply_changes(cluster.client, (*plan.objects, *text))

    @staticmethod
    def _put_back(cluster: SchedulerCluster, found: Return, namespace: str) -> None:
        if not found.changes:
            return
        changes = (*((found.text,) if found.text else ()), *found.objects)
        journal = RequiredPermission.of("delete", journal_ref(namespace))
        require_permissions(cluster.client, (journal, *required_permissions(changes)))
        apply_changes(cluster.client, changes)
        cluster.take_journal_away(namespace)


def _told(objects: tuple[ObjectChange, ...], text: ObjectChange | None, *, changed: bool) -> dict[str, Any]:
    found = (*objects, *((text,) if text else ()))
    changes = [{"object": each.ref.place, "action": each.operation.value} for each in found]
    edits = [{name: redact_text(side) for name, side in each.diff().items()} for each in found]
    return dict(plain({"changed": changed, "diff": edits, "changes": changes, "findings": [], "left_out": []}))
