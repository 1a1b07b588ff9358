# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_replay, which runs only on the controller: assess the recorded snapshots in a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..module_utils.safe_text import one_line
from ..plugin_utils.facts.interpreter import SnapshotError
from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.findings_page import require_known_codes
from ..plugin_utils.node.output_files import LimitOptions, name_write_errors
from ..plugin_utils.node.snapshot_files import assess_recorded, read_snapshot, recorded_snapshots, write_report
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_REPLAY
from ..plugin_utils.report.node_block import Filter, failing_codes, render_node
from ..plugin_utils.report.node_groups import render_groups
from ..plugin_utils.report.node_table import (
    Row,
    failing_nodes_message,
    first_lines,
    missing_row,
    node_row,
    render_table,
)


@dataclass
class Replay:
    """What is kept of the snapshots: a line for each, so that a thousand nodes need the memory of one document."""

    rows: list[Row] = field(default_factory=list)
    failing: dict[str, list[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_REPLAY

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        require_known_codes("finding_codes", arguments["finding_codes"])
        snapshots = list(recorded_snapshots(Path(arguments["snapshots"])))
        is_detailed = display.is_verbose or len(snapshots) <= arguments["detailed_hosts"]
        replay = Replay()
        for name, path in snapshots:
            try:
                facts = self._assess(name, path, arguments, replay)
            except SnapshotError as error:
                replay.rows.append(missing_row(name))
                replay.errors[name] = str(error)
            else:
                if is_detailed:
                    display.display(render_node(name, facts, _selection(arguments)))
        for line in first_lines([f"{name}: NOT READ. {error}" for name, error in replay.errors.items()]):
            display.display(one_line(line))
        table = self._show_all(replay.rows, arguments, is_detailed=is_detailed)
        messages = first_lines([*replay.errors.values()])
        if replay.failing:
            messages.append(failing_nodes_message(replay.failing, arguments["fail_severities"]))
        if messages:
            return {"failed": True, "msg": "\n".join(messages), "failing": replay.failing}
        return {"changed": False, "nodes": len(replay.rows), "table": table}

    @staticmethod
    def _assess(name: str, path: str, arguments: Mapping[str, Any], replay: Replay) -> dict[str, Any]:
        """The facts of one node, added to ``replay``; SnapshotError if its file cannot be read."""
        facts = assess_recorded(path, read_snapshot(path), arguments)
        if arguments["report_directory"]:
            with name_write_errors("report_directory", arguments["report_directory"]):
                write_report(Path(arguments["report_directory"]), name, facts)
        codes = failing_codes(facts, arguments["fail_severities"])
        if codes:
            replay.failing[name] = codes
        replay.rows.append(node_row(name, facts, _selection(arguments)))
        return facts

    @staticmethod
    def _show_all(rows: Sequence[Row], arguments: Mapping[str, Any], *, is_detailed: bool) -> str:
        """A table of the nodes, or their groups."""
        if len(rows) < 2:
            return ""
        directory = arguments["report_directory"]
        limit = LimitOptions(directory=Path(directory) if directory else None)
        with name_write_errors("report_directory", directory):
            table = render_table(rows) if is_detailed else render_groups(rows, limit)
        display.display(f"\n{table}")
        return table


def _selection(arguments: Mapping[str, Any]) -> Filter:
    return Filter(arguments["finding_codes"], arguments["finding_severities"])
