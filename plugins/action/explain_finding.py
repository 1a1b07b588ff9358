# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""explain_finding, which runs only on the controller: print what docs/findings.md says of a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.node.action_base import ColocationAction, display
from ..plugin_utils.node.findings_page import EXPLAIN_FINDING, PATH, explanation_of
from ..plugin_utils.node.transport import Node
from ..plugin_utils.report.explanation import render_explanation


class ActionModule(ColocationAction):
    ARGUMENTS = EXPLAIN_FINDING

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        explanation = explanation_of("code", arguments["code"].strip())
        display.display(f"\n{render_explanation(explanation, str(PATH))}\n")
        return {"changed": False, **explanation.to_result()}
