# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rollout_table, which runs only on the controller: print the progress of a rollout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.drain.rollout_action import ROLLOUT_TABLE, RoleResultsAction
from ..plugin_utils.drain.rollout_groups import render_table_groups
from ..plugin_utils.drain.rollout_report import render_table, table_row
from ..plugin_utils.node.action_base import display
from ..plugin_utils.node.output_files import LimitOptions
from ..plugin_utils.node.transport import Node


class ActionModule(RoleResultsAction):
    ARGUMENTS = ROLLOUT_TABLE

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        failed = arguments["failed"]
        rows = [table_row(name, self.registered(name), str(failed.get(name, ""))) for name in arguments["nodes"]]
        if not rows:
            return {"changed": False, "table": ""}
        is_detailed = display.is_verbose or len(rows) <= arguments["detailed_hosts"]
        table = render_table(rows) if is_detailed else render_table_groups(rows, LimitOptions(self.inventory_groups))
        display.display(f"\n{table}")
        return {"changed": False, "table": table}
