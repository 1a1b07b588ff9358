# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_table, which runs only on the controller: report all nodes of a play, and write the reports to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible import constants

from ..plugin_utils.node.action_base import display, strip_tags
from ..plugin_utils.node.cluster_action import HostvarsAction
from ..plugin_utils.node.findings_page import require_known_codes
from ..plugin_utils.node.output_files import LimitOptions, name_write_errors
from ..plugin_utils.node.snapshot_files import write_report
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_TABLE
from ..plugin_utils.report.host_groups import group_texts, render_text_groups
from ..plugin_utils.report.node_block import Filter, render_node, render_rows
from ..plugin_utils.report.node_groups import render_groups
from ..plugin_utils.report.node_table import Row, missing_row, node_row, render_table
from ..plugin_utils.report.plan_notes import PlanNote, plan_notes

MAX_NOTES = 4
DEFAULT_CALLBACKS = ("default", "ansible.builtin.default")
HINT = "ANSIBLE_STDOUT_CALLBACK=volcano.colocation.fleet shows one line for each task instead of one for each host."


@dataclass(frozen=True)
class NodeReport:
    """``facts``: None for a node that was not read."""

    name: str
    facts: Mapping[str, Any] | None
    notes: tuple[PlanNote, ...] = ()


class ActionModule(HostvarsAction):
    ARGUMENTS = NODE_TABLE

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        require_known_codes("finding_codes", arguments["finding_codes"])
        reports = [self._report(name, arguments["source"]) for name in arguments["nodes"]]
        if arguments["source"] == "aligned":
            reports = [report for report in reports if report.facts]
        with name_write_errors("directory", arguments["directory"]):
            if arguments["directory"]:
                for report in reports:
                    if report.facts:
                        write_report(Path(arguments["directory"]), report.name, report.facts)
        selection = Filter(arguments["finding_codes"], arguments["finding_severities"])
        rows = [
            node_row(report.name, report.facts, selection) if report.facts else missing_row(report.name)
            for report in reports
        ]
        size = arguments["fleet_size"] or len(reports)
        if display.is_verbose or size <= arguments["detailed_hosts"]:
            return {"changed": False, "table": self._show_each(reports, rows, selection)}
        return {"changed": False, "table": self._show_groups(reports, rows, arguments)}

    def _report(self, name: str, source: str) -> NodeReport:
        known = self.known(name)
        if source == "facts":
            return NodeReport(name, strip_tags((known.get("ansible_facts") or {}).get("colocation")))
        result = strip_tags(known.get(f"node_{source}")) or {}
        if source == "aligned" and result.get("failed"):
            return NodeReport(name, None)
        notes = (
            plan_notes(result, is_preview=self._task.check_mode) if source == "observed" and "plan" in result else ()
        )
        return NodeReport(name, result.get("facts"), tuple(notes))

    @staticmethod
    def _show_each(reports: Sequence[NodeReport], rows: Sequence[Row], selection: Filter) -> str:
        """A block for each node, and the table of several nodes."""
        for report in reports:
            if report.facts:
                block = render_node(report.name, report.facts, selection)
                notes = [line for note in report.notes for line in render_rows(note.label, note.text)]
                display.display("\n".join([block, *notes]))
        if len(rows) < 2:
            return ""
        table = render_table(rows)
        display.display(f"\n{table}")
        return table

    def _show_groups(self, reports: Sequence[NodeReport], rows: Sequence[Row], arguments: Mapping[str, Any]) -> str:
        """Groups of nodes. Of a batch that was changed, only the nodes that are not aligned."""
        is_batch = arguments["source"] == "aligned"
        rows = [row for row in rows if not is_batch or row.verdict != "aligned"]
        if not rows:
            return ""
        directory = arguments["directory"]
        limit = LimitOptions(self.inventory_groups, Path(directory) if directory else None)
        notes = [(report.name, f"{note.label}: {note.common}") for report in reports for note in report.notes]
        with name_write_errors("directory", directory):
            lines = [
                render_groups(rows, limit),
                *render_text_groups(group_texts(notes), "notes", limit, most=MAX_NOTES),
            ]
        table = "\n".join(lines)
        hint = "" if is_batch or constants.DEFAULT_STDOUT_CALLBACK not in DEFAULT_CALLBACKS else f"\n{HINT}"
        display.display(f"\n{table}{hint}")
        return table
