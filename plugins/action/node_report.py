# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_report, which runs only on the controller: print a node's report and write it to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.findings_page import require_known_codes
from ..plugin_utils.node.output_files import name_write_errors
from ..plugin_utils.node.snapshot_files import write_report
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_REPORT
from ..plugin_utils.report.node_block import Filter, failing_codes, render_node


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_REPORT

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        require_known_codes("finding_codes", arguments["finding_codes"])
        name, facts = arguments["name"], arguments["facts"]
        block = render_node(name, facts, Filter(arguments["finding_codes"], arguments["finding_severities"]))
        display.display(block)
        codes = failing_codes(facts, arguments["fail_severities"])
        result: dict[str, Any] = {"changed": False, "report": block, "failing": codes}
        if arguments["directory"]:
            with name_write_errors("directory", arguments["directory"]):
                result["path"] = str(write_report(Path(arguments["directory"]), name, facts))
        return result
