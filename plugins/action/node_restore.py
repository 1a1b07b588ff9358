# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_restore: read the ledger, plan, restore, remove the collection's files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..plugin_utils.kube.identity import describe_host
from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.evidence_schema import snapshot_errors
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_RESTORE
from ..plugin_utils.profile.validators import seconds
from ..plugin_utils.restore.execution import (
    apply_restore,
    check_restore,
    conflict_message,
    render_diffs,
    restore_result,
)
from ..plugin_utils.restore.ledger_evidence import Evidence, read_evidence
from ..plugin_utils.restore.ledger_plan import plan_restore

SEE_LOG = "See journalctl -t volcano-colocation and the free space of /var/lib/volcano-colocation on the node"


def render_interrupted(evidence: Evidence) -> dict[str, Any]:
    """The check-mode result for a node with an open transaction: only its recovery can be planned."""
    listed = ", ".join(evidence.open)
    change = {
        "section": "transaction",
        "target": listed,
        "action": "finish",
        "reason": "it was interrupted; it is recovered first, then the node is read again",
        "impact": [],
    }
    return {
        "changed": True,
        "diff": [],
        "changes": [change],
        "pending": [],
        "conflicts": [],
        "permission": None,
        "notes": [],
    }


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_RESTORE

    @staticmethod
    def _evidence(node: Node) -> Evidence:
        with snapshot_errors(node.name, "ledger"):
            return read_evidence(node.ledger())

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        seconds("health_timeout", arguments["health_timeout"])
        evidence = self._evidence(node)
        if evidence.open and self._task.check_mode:
            return render_interrupted(evidence)
        if evidence.open:
            display.warning(f"{self.host}: an earlier transaction was interrupted; it is recovered first")
            node.recover("undo", self.show_progress, evidence.open)
            evidence = self._evidence(node)
        if evidence.open:
            listed = ", ".join(evidence.open)
            return {"failed": True, "msg": f"Nothing was restored: {listed} could not be recovered. {SEE_LOG}"}
        began = time.process_time()
        with snapshot_errors(node.name, "ledger"):
            restore = plan_restore(evidence, arguments["sections"], allow_disruption=arguments["allow_disruption"])
            result: dict[str, Any] = {"changed": bool(restore.changes), "diff": render_diffs(evidence, restore)}
            result.update(restore_result(restore), node=describe_host(evidence.identity))
        node.usage.planning_seconds += time.process_time() - began
        for note in restore.notes:
            display.warning(f"{self.host}: {note}")
        if restore.obstacles:
            result["msg"] = conflict_message(restore)
        if restore.conflicts or (restore.permission and not self._task.check_mode):
            result.update(failed=True, changed=False, diff=[])
        elif self._task.check_mode:
            result.update(check_restore(node, restore, arguments["health_timeout"]))
        else:
            result.update(apply_restore(node, restore, arguments["health_timeout"], self.show_progress))
        result["usage"] = node.usage.to_result()
        return result
