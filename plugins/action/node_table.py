# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_table, which runs only on the controller: print all nodes of a play in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.node.action_base import ColocationAction, display, strip_tags
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_TABLE
from ..plugin_utils.report.node_block import Filter
from ..plugin_utils.report.node_table import Row, missing_row, node_row, render_table


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_TABLE

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._hosts = (task_vars or {}).get("hostvars", {})
        return super().run(tmp, task_vars)

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if len(arguments["nodes"]) < 2:
            return {"changed": False, "table": ""}
        selection = Filter(arguments["finding_codes"], arguments["finding_severities"])
        table = render_table(self._row(name, selection) for name in arguments["nodes"])
        display.display(f"\n{table}")
        return {"changed": False, "table": table}

    def _row(self, name: str, selection: Filter) -> Row:
        # Not hostvars[name], which would template all variables of all hosts.
        variables = self._hosts.raw_get(name)
        facts = (variables.get("ansible_facts") or {}).get("colocation")
        return node_row(name, strip_tags(facts), selection) if facts else missing_row(name)
