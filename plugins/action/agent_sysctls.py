# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of agent_sysctls: write a file in sysctl.d by a transaction, and record it in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils.snapshot.machine_evidence import SYSCTLS_FILE
from ..plugin_utils.node.action_base import SUCCEEDED, ColocationAction
from ..plugin_utils.node.evidence_schema import interpret_snapshot
from ..plugin_utils.node.transport import Node
from ..plugin_utils.plan.change_set import Plan
from ..plugin_utils.plan.sysctl_file import SysctlEdit, plan_sysctls, sysctl_document, sysctl_refusals
from ..plugin_utils.profile.argspec import AGENT_SYSCTLS
from ..plugin_utils.report.plan_result import failure_message, refusal_message
from ..plugin_utils.rules.image_managed import immutable_refusals
from ..plugin_utils.rules.transaction_records import journal_refusals, ledger_refusals


class ActionModule(ColocationAction):
    ARGUMENTS = AGENT_SYSCTLS

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        snapshot, recovered = self.recover_transaction(node, node.snapshot(), arguments["recover"])
        captured = snapshot["kernel"]["switches_file"]
        edit = plan_sysctls(captured, arguments["sysctls"])
        facts = interpret_snapshot(node.name, snapshot)
        refusals = immutable_refusals(facts) if edit or arguments["sysctls"] else ()
        refusals = journal_refusals(facts) or refusals or sysctl_refusals(captured, arguments["sysctls"])
        if edit and not refusals:
            refusals = ledger_refusals(facts)
        if refusals:
            return {"failed": True, "msg": refusal_message(Plan(refusals=refusals))}
        result: dict[str, Any] = {"changed": bool(edit or recovered), "path": SYSCTLS_FILE, "diff": _diff(edit)}
        if recovered:
            result["recovered"] = recovered
        if edit:
            transaction = self.run_transaction(node, sysctl_document(edit))
            if transaction["state"] not in SUCCEEDED:
                return {"failed": True, "msg": failure_message(transaction), "transaction": transaction}
        return result


def _diff(edit: SysctlEdit | None) -> list[dict[str, str]]:
    if edit is None:
        return []
    header = {"before_header": SYSCTLS_FILE, "after_header": SYSCTLS_FILE}
    return [{**header, "before": edit.before or "", "after": edit.after or ""}]
