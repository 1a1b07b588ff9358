# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of scheduler_config, and all of it: scheduler, queues, classes and admission of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.arguments import SCHEDULER_CONFIG
from ..plugin_utils.controller.cluster_action import ClusterAction
from ..plugin_utils.controller.node import Node
from ..plugin_utils.controller.scheduler_api import SchedulerApi
from ..plugin_utils.facts.published_values import plain
from ..plugin_utils.findings.kubeadm import published
from ..plugin_utils.kubeadm.model import ClusterError
from ..plugin_utils.redact import redact_text
from ..plugin_utils.scheduler import journal
from ..plugin_utils.scheduler.deeds import Deed, ObjectChange, TextChange, needs
from ..plugin_utils.scheduler.objects import Ref
from ..plugin_utils.scheduler.plan import SchedulerPlan, make_plan
from ..plugin_utils.scheduler.restore import Return, make_return
from ..plugin_utils.scheduler.wanted import read_wanted

UNNAMED = "colocation_kubeconfig names no kubeconfig, and a scheduler is set up by its cluster's API server only"


class ActionModule(ClusterAction):
    ARGUMENTS = SCHEDULER_CONFIG

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            wanted = read_wanted(arguments)
            path = self.kubeconfig(arguments, UNNAMED)
            api = SchedulerApi(self.requests(path), path)
            if arguments["state"] == "restored":
                found = make_return(api.look_back(wanted.namespace), arguments["cluster_uid"])
                self._put_back(api, found, wanted.namespace)
                return _told(found.objects, found.text, changed=found.changes)
            seen = api.look(wanted)
            plan = make_plan(wanted, seen, arguments["cluster_uid"])
            self._write(api, plan, wanted.namespace, seen.journal_version)
            told = _told(plan.objects, plan.text, changed=plan.changes)
            return {**told, "findings": published(plan.findings), "left_out": list(plan.left_out)}
        except ClusterError as error:
            return {"failed": True, "msg": str(error)}

    def _write(self, api: SchedulerApi, plan: SchedulerPlan, namespace: str, version: str | None) -> None:
        if not plan.changes:
            return
        kept = Ref("v1", "ConfigMap", journal.NAME, namespace)
        api.demand(needs(plan.objects, plan.text, kept, Deed.CHANGE if version else Deed.CREATE))
        api.note(namespace, plan.journal, version)
        for each in plan.objects:
            if each.dry or not self._task.check_mode:
                api.carry_out(each)
        if plan.text:
            api.write_text(plan.text)

    @staticmethod
    def _put_back(api: SchedulerApi, found: Return, namespace: str) -> None:
        if not found.changes:
            return
        api.demand(needs(found.objects, found.text, Ref("v1", "ConfigMap", journal.NAME, namespace), Deed.DELETE))
        if found.text:
            api.write_text(found.text)
        for each in found.objects:
            api.carry_out(each)
        api.take_journal_away(namespace)


def _told(objects: tuple[ObjectChange, ...], text: TextChange | None, *, changed: bool) -> dict[str, Any]:
    changes = [{"object": each.ref.place, "action": each.deed.value} for each in objects]
    changes += [{"object": text.ref.place, "action": Deed.CHANGE.value}] if text else []
    edits = [*(each.diff() for each in objects), *([text.diff()] if text else [])]
    edits = [{name: redact_text(each) for name, each in edit.items()} for edit in edits]
    return dict(plain({"changed": changed, "diff": edits, "changes": changes, "findings": [], "left_out": []}))
