# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller half of node_report, and all of it: a block for people, a file for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..plugin_utils.arguments import NODE_REPORT
from ..plugin_utils.controller.action import ColocationAction, display
from ..plugin_utils.controller.node import Node
from ..plugin_utils.report import node_block


def write_report(folder: Path, name: str, facts: Mapping[str, Any]) -> Path:
    """Replace the node's file in one step, so that nobody reads half a report."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('/', '_')}.json"
    partial = path.with_suffix(".json.part")
    partial.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(partial, path)
    return path


class ActionModule(ColocationAction):
    ARGUMENTS = NODE_REPORT

    def work(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        block = node_block(arguments["name"], arguments["facts"])
        display.display(block)
        result: dict[str, Any] = {"changed": False, "report": block}
        if arguments["folder"]:
            result["path"] = str(write_report(Path(arguments["folder"]), arguments["name"], arguments["facts"]))
        return result
