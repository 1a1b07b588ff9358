# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the modules that write the configuration file of kubelet or a runtime and leave the restart to the user."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..facts.kubelet_state import KubeletFacts
from ..facts.node_state import NodeFacts
from ..facts.runtime_state import RuntimeFacts
from ..plan.change_set import Change, Impact, Plan
from ..plan.desired_state import resolve_profile
from ..plan.draft import PlanDraft
from ..plan.file_edits import file_edits
from ..plan.image_boot import FirstBoot
from ..plan.kubelet_impact import moved_checkpoints
from ..plan.transaction_document import files_document
from ..profile.node_profile import Profile, parse_profile
from ..report.plan_result import diffs, failure_message, refusal_message
from ..rules.catalogue import SYSTEM_REFUSALS, refusals
from ..rules.rule_types import RefusalRule
from ..rules.transaction_records import journal_refusals, ledger_refusals
from . import concurrent_edits
from .action_base import SUCCEEDED, ColocationAction
from .evidence_schema import interpret_snapshot
from .transport import Node

STRATEGY = "main-file"
"""The default: the main configuration file is edited in place."""


class FilesAction(ColocationAction):
    """``CHANGES`` and ``RULES`` are a module's part of the plan; ``BOOT`` describes the first boot of an image."""

    CHANGES: Callable[[PlanDraft], tuple[Change, ...]]
    RULES: tuple[RefusalRule, ...]
    BOOT: Callable[[PlanDraft, Sequence[Change]], FirstBoot]

    @staticmethod
    def side(facts: NodeFacts) -> KubeletFacts | RuntimeFacts:
        """The facts of the service that this module configures."""
        raise TypeError("a subclass must define its side")

    @staticmethod
    def remarks(_draft: PlanDraft) -> dict[str, Any]:
        """Keys of the result that only this module has."""
        return {}

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        desired = parse_profile(arguments)
        snapshot, recovered = self.recover_transaction(node, node.snapshot(), arguments["recover"])
        began = time.process_time()
        facts = interpret_snapshot(node.name, snapshot)
        draft = PlanDraft(facts, resolve_profile(facts, desired))
        refused = journal_refusals(facts) or refusals(draft, (*SYSTEM_REFUSALS, *self.RULES))
        if refused:
            return {"failed": True, "msg": refusal_message(Plan(refusals=refused))}
        needed = Plan(changes=type(self).CHANGES(draft))
        edits = file_edits(snapshot, needed.changes)
        refused = ledger_refusals(facts) if edits else ()
        if refused:
            return {"failed": True, "msg": refusal_message(Plan(refusals=refused))}
        result = {"changed": bool(edits), "diff": diffs(edits), **self._consequences(facts, needed, draft.profile)}
        result.update(self.remarks(draft))
        if facts.image:
            boot = type(self).BOOT(draft, needed.changes)
            result.update(first_boot=list(boot.lines), warnings=list(boot.warnings))
        if recovered:
            result.update(changed=True, recovered=recovered)
        node.usage.planning_seconds += time.process_time() - began
        if edits:
            transaction = self.run_transaction(node, files_document(edits, needed, facts))
            if transaction["state"] not in SUCCEEDED:
                message = failure_message(transaction) + concurrent_edits.describe(node, edits, transaction)
                return {"failed": True, "msg": message, "transaction": transaction}
        result["usage"] = node.usage.to_result()
        return result

    def _consequences(self, facts: NodeFacts, needed: Plan, profile: Profile) -> dict[str, Any]:
        side = self.side(facts)
        # In an image no service runs that needs a restart.
        restart = side.running and bool(needed.needs & {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME})
        return {
            "path": side.config.path,
            "strategy": STRATEGY,
            "restart_required": restart,
            "drain_required": restart and Impact.DRAIN in needed.needs and facts.pods.sandboxes > 0,
            "checkpoints_to_reset": moved_checkpoints(facts, needed, profile),
        }
