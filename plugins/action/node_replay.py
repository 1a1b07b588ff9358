# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_replay, which runs only on the controller: assess the recorded snapshots in a directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..module_utils.safe_text import one_line
from ..plugin_utils.facts.interpreter import SnapshotError
from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.snapshot_files import assess_recorded, read_snapshot, recorded_snapshots, write_report
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_REPLAY
from ..plugin_utils.report.node_block import Filter, failing_codes, render_node
from ..plugin_utils.report.node_table import Row, failing_nodes_message, missing_row, node_row, render_table


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_REPLAY

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rows: list[Row] = []
        failing: dict[str, list[str]] = {}
        unread: list[str] = []
        # One document at a time: a thousand nodes need the memory of one document and a line for each.
        for name, path in recorded_snapshots(Path(arguments["snapshots"])):
            try:
                rows.append(self._assess(name, path, arguments, failing))
            except SnapshotError as error:
                rows.append(missing_row(name))
                unread.append(str(error))
                display.display(one_line(f"{name}: NOT READ. {error}"))
        table = render_table(rows) if len(rows) > 1 else ""
        if table:
            display.display(f"\n{table}")
        messages = [*unread, *([failing_nodes_message(failing, arguments["fail_severities"])] if failing else [])]
        if messages:
            return {"failed": True, "msg": "\n".join(messages), "failing": failing}
        return {"changed": False, "nodes": len(rows), "table": table}

    @staticmethod
    def _assess(name: str, path: str, arguments: Mapping[str, Any], failing: dict[str, list[str]]) -> Row:
        facts = assess_recorded(path, read_snapshot(path), arguments)
        selection = Filter(arguments["finding_codes"], arguments["finding_severities"])
        display.display(render_node(name, facts, selection))
        if arguments["report_directory"]:
            write_report(Path(arguments["report_directory"]), name, facts)
        codes = failing_codes(facts, arguments["fail_severities"])
        if codes:
            failing[name] = codes
        return node_row(name, facts, selection)
