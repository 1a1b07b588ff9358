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
from ..plugin_utils.kube.permissions import require_permissions
from ..plugin_utils.redact import redact_text
from ..plugin_utils.scheduler.deeds import Deed, ObjectChange, TextChange, carry_out, required_permissions
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
        return {**told, "findings": published(plan.findings), "unsupported": list(plan.left_out)}

    def _write(self, cluster: SchedulerCluster, plan: SchedulerPlan, namespace: str, version: str | None) -> None:
        if not plan.changes:
            return
        deed = Deed.CHANGE if version else Deed.CREATE
        required = required_permissions(plan.objects, plan.text, journal_ref(namespace), deed)
        require_permissions(cluster.client, required)
        cluster.note(namespace, plan.journal, version)
        for each in plan.objects:
            if each.dry or not self._task.check_mode:
                carry_out(cluster.client, each)
        if plan.text:
            cluster.write_text(plan.text)

    @staticmethod
    def _put_back(cluster: SchedulerCluster, found: Return, namespace: str) -> None:
        if not found.changes:
            return
        required = required_permissions(found.objects, found.text, journal_ref(namespace), Deed.DELETE)
        require_permissions(cluster.client, required)
        if found.text:
            cluster.write_text(found.text)
        for each in found.objects:
            carry_out(cluster.client, each)
        cluster.take_journal_away(namespace)


def _told(objects: tuple[ObjectChange, ...], text: TextChange | None, *, changed: bool) -> dict[str, Any]:
    changes = [{"object": each.ref.place, "action": each.deed.value} for each in objects]
    changes += [{"object": text.ref.place, "action": Deed.CHANGE.value}] if text else []
    edits = [*(each.diff() for each in objects), *([text.diff()] if text else [])]
    edits = [{name: redact_text(each) for name, each in edit.items()} for edit in edits]
    return dict(plain({"changed": changed, "diff": edits, "changes": changes, "findings": [], "unsupported": []}))
