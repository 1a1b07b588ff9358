# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_replay, and all of it: a folder of recorded nodes, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..module_utils.safe_text import one_line
from ..plugin_utils.arguments import NODE_REPLAY
from ..plugin_utils.controller.action import ColocationAction, display
from ..plugin_utils.controller.node import Node
from ..plugin_utils.controller.recorded import assess_recorded, read_snapshot, recorded, write_report
from ..plugin_utils.facts.node import SnapshotError
from ..plugin_utils.report import Filter, failing, node_block
from ..plugin_utils.report_table import Row, failure, missed, row, table


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_REPLAY

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rows: list[Row] = []
        bad: dict[str, list[str]] = {}
        unread: list[str] = []
        # One document at a time: a thousand nodes take the memory of one, and a line each.
        for name, path in recorded(Path(arguments["snapshots"])):
            try:
                rows.append(self._one(name, path, arguments, bad))
            except SnapshotError as error:
                rows.append(missed(name))
                unread.append(str(error))
                display.display(one_line(f"{name}: NOT READ. {error}"))
        shown = table(rows) if len(rows) > 1 else ""
        if shown:
            display.display(f"\n{shown}")
        messages = [*unread, *([failure(bad, arguments["fail_severities"])] if bad else [])]
        if messages:
            return {"failed": True, "msg": "\n".join(messages), "failing": bad}
        return {"changed": False, "nodes": len(rows), "table": shown}

    @staticmethod
    def _one(name: str, path: str, arguments: Mapping[str, Any], bad: dict[str, list[str]]) -> Row:
        facts = assess_recorded(path, read_snapshot(path), arguments)
        wanted = Filter(arguments["finding_codes"], arguments["finding_severities"])
        display.display(node_block(name, facts, wanted))
        if arguments["report_directory"]:
            write_report(Path(arguments["report_directory"]), name, facts)
        codes = failing(facts, arguments["fail_severities"])
        if codes:
            bad[name] = codes
        return row(name, facts, wanted)
