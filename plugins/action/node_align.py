# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_align: observe, plan, apply, verify."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from ansible import constants

from ..plugin_utils.assessment.node_plan import AssumedSlices, assume_slices, make_plan
from ..plugin_utils.assessment.profile_comparison import ComparedProfile, parse_compared_profile
from ..plugin_utils.facts.node_state import NodeFacts
from ..plugin_utils.kubeadm.play_hosts import describe_node as of_the_cluster
from ..plugin_utils.node import concurrent_edits, snapshot_files
from ..plugin_utils.node.action_base import SUCCEEDED, ColocationAction
from ..plugin_utils.node.evidence_schema import interpret_snapshot
from ..plugin_utils.node.transport import Node
from ..plugin_utils.plan.change_set import Plan
from ..plugin_utils.plan.file_edits import FileEdit, file_edits
from ..plugin_utils.plan.transaction_document import transaction_document
from ..plugin_utils.profile.argspec import NODE_ALIGN
from ..plugin_utils.profile.node_profile import Profile
from ..plugin_utils.profile.validators import seconds
from ..plugin_utils.report.facts_document import facts_document
from ..plugin_utils.report.plan_result import diffs, failure_message, plan_result, refusal_message, render_instructions
from ..plugin_utils.rules.verdict import all_findings, judge


def render_plan_and_facts(facts: NodeFacts, plan: Plan, judged: ComparedProfile) -> dict[str, Any]:
    """The facts and the verdict of a plan, as keys of a result."""
    findings = all_findings(facts, plan)
    document = facts_document(facts, findings, judge(findings), judged.to_result())
    return {
        "plan": plan_result(plan),
        "owner_instructions": render_instructions(plan.owners),
        "verdict": document["verdict"],
        "facts": document,
    }


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_ALIGN

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        profile, judged = parse_compared_profile({**arguments, "compare_defaults": True})
        seconds("health_timeout", arguments["health_timeout"])
        snapshot = self._evidence(node, profile, arguments)
        snapshot, recovered = self.recover_transaction(node, snapshot, arguments["recover"])
        began = time.process_time()
        assumed = self._assumed_slices(interpret_snapshot(node.name, snapshot), profile, arguments)
        facts = assumed.facts
        plan = make_plan(facts, profile, allow_disruption=arguments["allow_disruption"], recover=arguments["recover"])
        edits = file_edits(snapshot, plan.changes) if plan.changes else ()
        result = {
            "changed": bool(plan.changes or recovered),
            "diff": diffs(edits),
            **render_plan_and_facts(facts, plan, judged),
        }
        result["kubeadm"] = of_the_cluster(facts, snapshot, profile)
        if arguments["assume_slices"] and self._task.check_mode:
            result["assumptions"] = assumed.to_result()
        if recovered:
            result["recovered"] = recovered
        node.usage.planning_seconds += time.process_time() - began
        if plan.obstacles:
            result["msg"] = refusal_message(plan)
        if plan.refusals or (plan.permission and not self._task.check_mode):
            result.update(failed=True, changed=bool(recovered), diff=[])
        elif plan.changes and self._task.check_mode and not arguments["preflight"]:
            result["observation"] = snapshot_files.keep_snapshot(constants.DEFAULT_LOCAL_TMP, snapshot)
        elif plan.changes:
            document = transaction_document(facts, plan, profile, edits, arguments["health_timeout"])
            result.update(self._apply(node, document, edits, profile, arguments, judged))
            if self._task.check_mode:
                result["observation"] = snapshot_files.keep_snapshot(constants.DEFAULT_LOCAL_TMP, snapshot)
        result["usage"] = node.usage.to_result()
        return result

    def _evidence(self, node: Node, profile: Profile, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The snapshot from earlier in this run; a new one if slices were assumed then, which must exist now."""
        snapshot = snapshot_files.take_snapshot(constants.DEFAULT_LOCAL_TMP, arguments["observation"])
        waits = snapshot is not None and arguments["assume_slices"] and not self._task.check_mode
        if snapshot is None or (waits and assume_slices(interpret_snapshot(node.name, snapshot), profile).slices):
            return node.snapshot()
        return snapshot

    def _assumed_slices(self, facts: NodeFacts, profile: Profile, arguments: Mapping[str, Any]) -> AssumedSlices:
        if arguments["assume_slices"] and self._task.check_mode:
            return assume_slices(facts, profile)
        return AssumedSlices(facts)

    def _apply(
        self,
        node: Node,
        document: Mapping[str, Any],
        edits: Iterable[FileEdit],
        profile: Profile,
        arguments: Mapping[str, Any],
        judged: ComparedProfile,
    ) -> dict[str, Any]:
        transaction = self.run_transaction(node, document)
        if transaction["state"] not in SUCCEEDED:
            untouched = transaction["state"] in ("refused", "rolled-back")
            return {
                "failed": True,
                "changed": not untouched,
                "diff": [],
                "transaction": transaction,
                "msg": failure_message(transaction) + concurrent_edits.describe(node, edits, transaction),
            }
        if self._task.check_mode:
            return {}
        facts = interpret_snapshot(node.name, node.snapshot())
        remaining_plan = make_plan(facts, profile, allow_disruption=arguments["allow_disruption"])
        after = render_plan_and_facts(facts, remaining_plan, judged)
        result = {"transaction": transaction, "verdict": after["verdict"], "facts": after["facts"]}
        if remaining_plan.changes or remaining_plan.refusals:
            remaining = "; ".join(map(str, (*remaining_plan.changes, *remaining_plan.refusals)))
            result.update(
                failed=True, msg=f"The transaction was committed, but a new snapshot of the node shows: {remaining}"
            )
        return result
