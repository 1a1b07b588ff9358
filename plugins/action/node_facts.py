# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_facts: interpret a snapshot of the node or from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.output_files import name_write_errors
from ..plugin_utils.node.snapshot_files import assess_recorded, read_snapshot, save_snapshot
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import NODE_FACTS
from ..plugin_utils.report.redact import redact_snapshot


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_FACTS

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        snapshot_path = arguments["snapshot"]
        snapshot = read_snapshot(snapshot_path) if snapshot_path else node.snapshot()
        facts = assess_recorded(snapshot_path or node.name, snapshot, arguments)
        result: dict[str, Any] = {"changed": False, "ansible_facts": {"colocation": facts}}
        if arguments["snapshot_directory"]:
            with name_write_errors("snapshot_directory", arguments["snapshot_directory"]):
                result["path"] = str(save_snapshot(Path(arguments["snapshot_directory"]), self.host, snapshot))
        if arguments["return_snapshot"]:
            result["snapshot"] = redact_snapshot(snapshot)
        return result
